"""gnt-instance move."""

from collections.abc import Sequence

from ganeti_tx.cli.instance.moves import IGNORE_POLICY, ask
from ganeti_tx.cli.options import (
    DRY_RUN,
    FORCE,
    ONE_INSTANCE,
    PRIORITY,
    SHUTDOWN_TIMEOUT,
    SUBMITTING,
    Command,
    Option,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.model.compression import NONE

NODE = Option(("-n", "--node"), "node", "the node to move it to", "string", metavar="<node>")
COMPRESS = Option(
    ("--compress",), "compress", "how the disks are packed on their way", "string", NONE, metavar="<compress>"
)
IGNORE_CONSISTENCY = switch("--ignore-consistency", "ignore_consistency", "go on if the old node does not stop it")


def move(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Copy one instance, with its disks, to another node, after a question unless forced."""
    name = names[0]
    if not options.node:
        raise OpPrereqError("no node is given to move the instance to; give one with -n", ECode.INVAL)
    if not options.force:
        ask(session, name, f"Instance {name} will be moved. This requires a shutdown of the instance. Continue?")
    op = opcode(
        "OP_INSTANCE_MOVE",
        instance_name=name,
        target_node=options.node,
        compress=unless(NONE, options.compress),
        shutdown_timeout=unless(SHUTDOWN_TIMEOUT.default, options.shutdown_timeout),
        ignore_consistency=unless(False, options.ignore_consistency),
        ignore_ipolicy=unless(False, options.ignore_ipolicy),
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


MOVE = Command(
    move,
    ONE_INSTANCE,
    (FORCE, *SUBMITTING, NODE, COMPRESS, SHUTDOWN_TIMEOUT, DRY_RUN, PRIORITY, IGNORE_CONSISTENCY, IGNORE_POLICY),
)
