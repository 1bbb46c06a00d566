"""The operating system that instances are to get, among the definitions that the nodes have."""

from collections.abc import Iterator

from ganeti_tx.burnin.jobs import explained
from ganeti_tx.burnin.wanted import Wanted
from ganeti_tx.cli.progress import follow
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode
from ganeti_tx.errors import ECode, OpPrereqError

#: With these, definitions that are hidden, or not good on all nodes, are told, too: the nodes that are used may have them.
FIELDS = ("name", "variants", "valid", "hidden", "blacklisted")


def check_os(session: Session, wanted: Wanted) -> None:
    """@raise OpPrereqError: no node has such a definition, or it has no such variant."""
    there = list(_names(session, wanted))
    if wanted.os not in there:
        raise OpPrereqError(
            f"--os: {wanted.os!r} is none of the nodes' definitions; there are {', '.join(there) or 'none'}",
            ECode.NOENT,
        )


def _names(session: Session, wanted: Wanted) -> Iterator[str]:
    """As instances have them; of a definition that is not good everywhere any variant, since none is known for sure."""
    op = opcode("OP_OS_DIAGNOSE", output_fields=list(FIELDS))
    job_id = session.client.submit_job([explained(session, wanted, "Looking for definitions", op)])
    [rows] = follow(session, job_id, quiet=True)
    typed, _mark, _variant = wanted.os.partition("+")
    for name, variants, valid, *_states in rows:
        if name == typed and not valid:
            yield wanted.os
        yield from (f"{name}+{variant}" for variant in variants)
        if not variants:
            yield name
