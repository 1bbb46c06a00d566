"""gnt-node powercycle."""

from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, ONE_NODE, PRIORITY, SUBMITTING, Command, switch
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode


def powercycle(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Have a node reset itself, after a question."""
    if not options.confirm:
        confirm(session, f"Are you sure you want to hard powercycle node {names[0]}?", "--yes")
    said = run_opcode(
        session, options, opcode("OP_NODE_POWERCYCLE", node_name=names[0], force=unless(False, options.force))
    )
    if said is not None:
        session.print(said)
    return ExitCode.SUCCESS


POWERCYCLE = Command(
    powercycle,
    ONE_NODE,
    (
        switch("-f --force", "force", "also the master"),
        switch("--yes", "confirm", "ask no questions"),
        DRY_RUN,
        PRIORITY,
        *SUBMITTING,
    ),
)
