"""gnt-instance startup, shutdown and reboot, of one instance or of many."""

from collections.abc import Sequence

from ganeti_tx.cli import parameter_types
from ganeti_tx.cli.instance import selection
from ganeti_tx.cli.instance.selection import chosen_instances
from ganeti_tx.cli.options import (
    BACKEND,
    DRY_RUN,
    FORCE,
    MANY_INSTANCES,
    PRIORITY,
    SHUTDOWN_TIMEOUT,
    SUBMITTING,
    Command,
    Option,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, opcode, run_each, unless

FORCE_MULTIPLE = switch("--force-multiple", "force_multi", "do not ask when several instances are affected")
IGNORE_OFFLINE = switch("--ignore-offline", "ignore_offline", "only change the configuration while the node is offline")
NO_REMEMBER = switch("--no-remember", "no_remember", "do not keep the new state in the configuration")
TIMEOUT = Option(("--timeout",), "timeout", "seconds the instance may take to shut down", "int", 120)
REBOOT_TYPE = Option(
    ("-t", "--type"), "reboot_type", "soft (the instance stays defined), hard, or full (disks too)", "choice", "hard",
    choices=("soft", "hard", "full"), metavar="<REBOOT>",
)  # fmt: skip


def startup(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Start the instances."""
    chosen = chosen_instances(session, options, words, "startup")
    hvparams = parameter_types.hypervisor_params(options.hvparams)
    beparams = parameter_types.typed(options.beparams, parameter_types.BACKEND, "backend")

    def op(name: str) -> OpCode:
        return opcode(
            "OP_INSTANCE_STARTUP",
            instance_name=name,
            force=unless(False, options.force),
            ignore_offline_nodes=unless(False, options.ignore_offline),
            no_remember=unless(False, options.no_remember),
            startup_paused=unless(False, options.startup_paused),
            hvparams=hvparams or None,
            beparams=beparams or None,
        )

    return run_each(session, options, {name: op(name) for name in chosen.names}, announced=chosen.several)


def shutdown(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Stop the instances."""
    chosen = chosen_instances(session, options, words, "shutdown")

    def op(name: str) -> OpCode:
        return opcode(
            "OP_INSTANCE_SHUTDOWN",
            instance_name=name,
            force=unless(False, options.force),
            timeout=unless(TIMEOUT.default, options.timeout),
            ignore_offline_nodes=unless(False, options.ignore_offline),
            no_remember=unless(False, options.no_remember),
        )

    return run_each(session, options, {name: op(name) for name in chosen.names}, announced=chosen.several)


def reboot(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Restart the instances."""
    chosen = chosen_instances(session, options, words, "reboot")

    def op(name: str) -> OpCode:
        return opcode(
            "OP_INSTANCE_REBOOT",
            instance_name=name,
            reboot_type=options.reboot_type,
            ignore_secondaries=unless(False, options.ignore_secondaries),
            shutdown_timeout=unless(SHUTDOWN_TIMEOUT.default, options.shutdown_timeout),
        )

    return run_each(session, options, {name: op(name) for name in chosen.names}, announced=chosen.several)


_ALL = (FORCE_MULTIPLE, *selection.OPTIONS, *SUBMITTING, DRY_RUN, PRIORITY)

STARTUP = Command(
    startup,
    MANY_INSTANCES,
    (
        FORCE,
        *_ALL,
        Option(("-H", "--hypervisor-parameters"), "hvparams", "hypervisor parameters for this start", "keyval", {}),
        BACKEND,
        IGNORE_OFFLINE,
        NO_REMEMBER,
        switch("--paused", "startup_paused", "start the instance paused"),
    ),
)
SHUTDOWN = Command(shutdown, MANY_INSTANCES, (FORCE, *_ALL, TIMEOUT, IGNORE_OFFLINE, NO_REMEMBER))
REBOOT = Command(
    reboot,
    MANY_INSTANCES,
    (
        *_ALL,
        REBOOT_TYPE,
        switch("--ignore-secondaries", "ignore_secondaries", "go on when a secondary node cannot be reached"),
        SHUTDOWN_TIMEOUT,
    ),
)
