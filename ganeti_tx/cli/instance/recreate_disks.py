"""gnt-instance recreate-disks."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli import parameter_types
from ganeti_tx.cli.instance.grow_disk import disk_index
from ganeti_tx.cli.options import DRY_RUN, IALLOCATOR, ONE_INSTANCE, PRIORITY, SUBMITTING, Command, Option
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.cli.values import Identified
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

#: What may be said of a disk that is made anew, and how each is written.
KEYS: Mapping[str, str] = {"mode": "string", "size": "size", "spindles": "int", "vg": "string"}


def recreate(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Make lost disks anew, empty."""
    op = opcode(
        "OP_INSTANCE_RECREATE_DISKS",
        instance_name=names[0],
        disks=disks_of(options.disks) or None,
        nodes=options.node.split(":") if options.node else None,
        iallocator=options.iallocator,
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


def disks_of(given: Sequence[Identified]) -> list[list[Any]]:
    """Each index with what shall be different. @raise OpPrereqError: no index, one twice, or no parameters."""
    found: dict[int, dict[str, Any]] = {}
    for ident, settings in given:
        index = disk_index(ident)
        if not isinstance(settings, dict):
            raise OpPrereqError(f"--disk {ident}: a disk that is made anew cannot be removed", ECode.INVAL)
        if index in found:
            raise OpPrereqError(f"--disk {index} was given twice", ECode.INVAL)
        found[index] = parameter_types.typed(settings, KEYS, "disk")
    return [[index, settings] for index, settings in sorted(found.items())]


RECREATE = Command(
    recreate,
    ONE_INSTANCE,
    (
        *SUBMITTING,
        Option(
            ("--disk",),
            "disks",
            "a disk to make anew, and what shall be different: N[:size=SIZE]",
            "identkeyval",
            [],
            "append",
        ),
        Option(("-n", "--node"), "node", "other nodes for all disks", "string", metavar="<pnode>[:<snode>]"),
        DRY_RUN,
        PRIORITY,
        IALLOCATOR,
    ),
)
