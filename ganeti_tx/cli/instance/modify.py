"""gnt-instance modify."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.instance.add import TEMPLATES
from ganeti_tx.cli.instance.changes import disk_changes, nic_changes
from ganeti_tx.cli.options import (
    BACKEND,
    DRY_RUN,
    FORCE,
    IALLOCATOR,
    ONE_INSTANCE,
    PRIORITY,
    SUBMITTING,
    Command,
    Option,
    negative,
    switch,
)
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, opcode, run_opcode, unless
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

#: What is a change by itself; the other options say how it is to be made.
CHANGES = (
    "nics",
    "disks",
    "disk_template",
    "hvparams",
    "beparams",
    "os_name",
    "osparams",
    "osparams_private",
    "offline",
    "runtime_mem",
    "pnode",
    "instance_communication",
)
HINT = (
    "Please don't forget that most parameters take effect only at the next (re)start of the instance initiated by ganeti;"
    " restarting from within the instance will not be enough."
)


def modify(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Change one instance, and show what is new."""
    op = modify_opcode(names[0], options)
    if not any(name in op for name in CHANGES):
        session.warn("Please give at least one of the parameters.")
        return ExitCode.FAILURE
    result = run_opcode(session, options, op)
    if result:
        session.print(f"Modified instance {names[0]}")
        for name, value in result:
            session.print(f" - {name:<5} -> {value}")
        session.print(HINT)
    return ExitCode.SUCCESS


def modify_opcode(name: str, options: Parsed) -> OpCode:
    """The opcode that changes the instance. @raise GanetiError: options that contradict each other or themselves."""
    return opcode(
        "OP_INSTANCE_SET_PARAMS",
        instance_name=name,
        nics=nic_changes(options.nics) or None,
        disks=disk_changes(options.disks) or None,
        disk_template=options.disk_template,
        remote_node=options.node,
        iallocator=options.iallocator,
        ext_params=options.ext_params or None,
        file_driver=options.file_driver,
        file_storage_dir=options.file_storage_dir,
        hvparams=types.hypervisor_params(options.hvparams) or None,
        beparams=types.typed(options.beparams, types.BACKEND, "backend") or None,
        runtime_mem=options.runtime_mem,
        pnode=options.new_primary_node,
        os_name=options.os,
        osparams=options.osparams or None,
        osparams_private=options.osparams_private or None,
        offline=offline_of(options),
        instance_communication=options.instance_communication,
        **_switches(options),
    )


def offline_of(options: Parsed) -> bool | None:
    """Whether it is to be marked as offline, or as online; None for neither."""
    if options.offline_inst and options.online_inst:
        raise UsageError("--offline and --online exclude each other")
    return True if options.offline_inst else False if options.online_inst else None


def _switches(options: Parsed) -> dict[str, Any]:
    """What is said without a value, where it was said."""
    if options.hotplug and options.hotplug_if_possible:
        raise OpPrereqError("--hotplug and --hotplug-if-possible exclude each other", ECode.INVAL)
    given = vars(options)
    yes = ("force", "force_variant", "ignore_ipolicy", "hotplug", "hotplug_if_possible")
    no = ("wait_for_sync", "conflicts_check")
    return {
        **{name: unless(False, given[name]) for name in yes},
        **{name: unless(True, given[name]) for name in no},
    }


OPTIONS = (
    BACKEND,
    Option(
        ("--disk",), "disks", "a change of disks: add:size=SIZE,..., ID:KEY=VALUE,..., ID:remove, ID:detach,"
        " attach:name=NAME; ID is an index, a name or a uuid", "identkeyval", [], "append",
    ),
    FORCE,
    Option(("-H", "--hypervisor-parameters"), "hvparams", "hypervisor parameters", "keyval", {}),
    Option(
        ("--net",), "nics", "a change of NICs: add:KEY=VALUE,..., ID:KEY=VALUE,..., ID:remove; ID is an index, a name"
        " or a uuid", "identkeyval", [], "append",
    ),
    *SUBMITTING,
    Option(
        ("-t", "--disk-template"), "disk_template", "convert the disks to this template", "choice", choices=TEMPLATES,
        metavar="TEMPL",
    ),
    Option(("-n", "--node"), "node", "secondary node of converted disks", "string", metavar="<node>"),
    IALLOCATOR,
    Option(("-o", "--os-type"), "os", "the OS definition, without installing it", "string", metavar="<os>"),
    switch("--force-variant", "force_variant", "take a variant that the OS definition does not list"),
    Option(("-O", "--os-parameters"), "osparams", "parameters of the OS definition", "keyval", {}),
    Option(
        ("--os-parameters-private",), "osparams_private", "OS parameters kept but not shown", "keyprivateval", {}
    ),
    DRY_RUN,
    PRIORITY,
    negative("--no-wait-for-sync", "wait_for_sync", "do not wait until new disks are in sync"),
    switch("--offline", "offline_inst", "mark the instance as offline, so that nobody starts it"),
    switch("--online", "online_inst", "mark an offline instance as down"),
    switch("--ignore-ipolicy", "ignore_ipolicy", "allow what the instance policy forbids"),
    Option(
        ("-m", "--runtime-memory"), "runtime_mem", "memory that the running instance shall have", "unit",
        metavar="<size>",
    ),
    negative("--no-conflicts-check", "conflicts_check", "allow addresses that belong to a network, or that others have"),
    Option(
        ("--new-primary",), "new_primary_node", "the node that the disks were brought to by hand", "string",
        metavar="<node>",
    ),
    switch("--hotplug", "hotplug", "change devices of the running instance at once, and give it more processors and memory"),
    switch("--hotplug-if-possible", "hotplug_if_possible", "the same if it can be done, else at its next start"),
    Option(
        ("-c", "--communication"), "instance_communication", "whether the instance can talk to its node", "bool"
    ),
    Option(("-e", "--ext-params"), "ext_params", "parameters of the provider of converted disks, or their format", "keyval", {}),
    Option(
        ("--file-driver",), "file_driver", "driver of converted disks", "choice", choices=("blktap", "loop", "blktap2"),
        metavar="<DRIVER>",
    ),
    Option(
        ("--file-storage-dir",), "file_storage_dir", "directory of converted disks, below the file storage", "string",
        metavar="<DIR>",
    ),
)  # fmt: skip

MODIFY = Command(modify, ONE_INSTANCE, OPTIONS)
