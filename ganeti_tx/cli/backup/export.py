"""gnt-backup export."""

from collections.abc import Sequence

from ganeti_tx.cli.options import (
    DRY_RUN,
    FORCE,
    ONE_INSTANCE,
    PRIORITY,
    SHUTDOWN_TIMEOUT,
    SUBMITTING,
    Command,
    Option,
    negative,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.model.compression import NONE

NODE = Option(("-n", "--node"), "node", "the node that gets the export", "string", metavar="<node>")
COMPRESSION = Option(
    ("--transport-compression",), "transport_compression", "how the data are packed on their way", "string", NONE
)
OPTIONS = (
    FORCE,
    NODE,
    COMPRESSION,
    negative("--noshutdown", "shutdown", "do not stop the instance: export snapshots of its disks as they are"),
    SHUTDOWN_TIMEOUT,
    switch("--remove-instance", "remove_instance", "remove the instance when it is exported"),
    switch("--ignore-remove-failures", "ignore_remove_failures", "go on if not all of the instance can be removed"),
    DRY_RUN,
    PRIORITY,
    switch("--zero-free-space", "zero_free_space", "have the free space on the disks filled with zeros before"),
    Option(("--zeroing-timeout-fixed",), "zeroing_timeout_fixed", "seconds that this may take at least", "int"),
    Option(("--zeroing-timeout-per-mib",), "zeroing_timeout_per_mib", "and more for each MiB", "float"),
    switch("--long-sleep", "long_sleep", "keep the instance down until all is copied, without snapshots"),
    *SUBMITTING,
)
SWITCHES = ("remove_instance", "ignore_remove_failures", "zero_free_space", "long_sleep")


def export(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Export one instance to a node."""
    if not options.node:
        raise OpPrereqError("Target node must be specified", ECode.INVAL)
    given = vars(options)
    op = opcode(
        "OP_BACKUP_EXPORT",
        instance_name=names[0],
        target_node=options.node,
        compress=unless(NONE, options.transport_compression),
        shutdown=unless(True, options.shutdown),
        shutdown_timeout=unless(SHUTDOWN_TIMEOUT.default, options.shutdown_timeout),
        zeroing_timeout_fixed=options.zeroing_timeout_fixed,
        zeroing_timeout_per_mib=options.zeroing_timeout_per_mib,
        **{name: unless(False, given[name]) for name in SWITCHES},
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


EXPORT = Command(export, ONE_INSTANCE, OPTIONS)
