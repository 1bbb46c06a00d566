"""gnt-debug delay."""

from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, PRIORITY, SUBMITTING, Argument, Command, Option, negative, switch
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.cli.values import InvalidValue, parse_float
from ganeti_tx.errors import ExitCode


def delay(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Run a job that sleeps for so many seconds, on the master, on nodes, or both."""
    try:
        duration = parse_float(words[0])
    except InvalidValue as error:
        raise UsageError(f"{error}: give the seconds to wait") from None
    op = opcode(
        "OP_TEST_DELAY",
        duration=duration,
        on_master=unless(True, options.on_master),
        on_nodes=options.on_nodes or None,
        repeat=unless(0, options.repeat),
        interruptible=unless(False, options.interruptible),
        no_locks=options.no_locks,
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


DELAY = Command(
    delay,
    (Argument("unknown", 1, 1, shown="duration"),),
    (
        negative("--no-master", "on_master", "do not sleep on the master"),
        Option(("-n",), "on_nodes", "sleep on this node; may be repeated", "string", [], "append"),
        Option(("-r", "--repeat"), "repeat", "sleep so many times", "int", "0"),
        switch("-i --interruptible", "interruptible", "listen on a socket for what ends the sleep"),
        switch("-l --no-locks", "no_locks", "hold no locks meanwhile"),
        DRY_RUN,
        PRIORITY,
        *SUBMITTING,
    ),
)
