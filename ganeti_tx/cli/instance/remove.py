"""gnt-instance remove."""

from collections.abc import Sequence

from ganeti_tx.cli.options import (
    DRY_RUN,
    FORCE,
    ONE_INSTANCE,
    PRIORITY,
    SHUTDOWN_TIMEOUT,
    SUBMITTING,
    Command,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.prompt import confirm
from ganeti_tx.cli.selection import selection
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode


def remove(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Remove one instance and its disks, after a question unless forced."""
    name = names[0]
    if not options.force:
        session.client.query("instance", ["name"], selection([name], force_filter=False))  # unknown names end here
        text = (
            f"This will remove the volumes of the instance {name} (including mirrors), thus removing all the data of the"
            " instance. Continue?"
        )
        confirm(session, text, "--force")
    op = opcode(
        "OP_INSTANCE_REMOVE",
        instance_name=name,
        ignore_failures=unless(False, options.ignore_failures),
        shutdown_timeout=unless(SHUTDOWN_TIMEOUT.default, options.shutdown_timeout),
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


REMOVE = Command(
    remove,
    ONE_INSTANCE,
    (
        FORCE,
        SHUTDOWN_TIMEOUT,
        switch("--ignore-failures", "ignore_failures", "remove it from the configuration even if something fails"),
        *SUBMITTING,
        DRY_RUN,
        PRIORITY,
    ),
)
