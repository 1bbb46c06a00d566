"""gnt-instance add."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli import parameter_types as types
from ganeti_tx.cli.instance import old_sizes
from ganeti_tx.cli.instance.devices import Device, disks_of, nics_of
from ganeti_tx.cli.options import (
    BACKEND,
    DRY_RUN,
    IALLOCATOR,
    NODE_GROUP,
    ONE_HOST,
    PRIORITY,
    SUBMITTING,
    Command,
    Option,
    negative,
    switch,
)  # fmt: skip
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, opcode, run_opcode, unless
from ganeti_tx.cli.values import parse_list
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError
from ganeti_tx.model.enums import DiskTemplate

#: Options that say yes to something, and that say no.
YES = ("force_variant", "no_install", "ignore_ipolicy", "opportunistic_locking", "forthcoming", "commit")
NO = ("ip_check", "name_check", "conflicts_check", "wait_for_sync", "start")
TEMPLATES = tuple(word.value for word in DiskTemplate)


def add(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """Submit the creation of one instance."""
    run_opcode(session, options, create_opcode(names[0], options))
    return ExitCode.SUCCESS


def create_opcode(name: str, options: Parsed) -> OpCode:
    """The opcode that creates the instance. @raise GanetiError, UsageError: options that contradict each other or themselves."""
    options = Parsed({**vars(options), "beparams": old_sizes.with_old_memory(options)})
    return opcode(
        "OP_INSTANCE_CREATE",
        instance_name=name,
        mode="create",
        disks=_disks(options),
        nics=nics_of(options.nics, options.no_nics),
        os_type=options.os,
        instance_communication=options.instance_communication,
        **common_parameters(options),
        **switches(options, YES, NO),
    )


def common_parameters(options: Parsed) -> dict[str, Any]:
    """What new instances have in common, wherever their data come from."""
    pnode, snode = nodes_of(options.node)
    hypervisor, hvparams = hypervisor_of(options.hypervisor)
    return {
        "disk_template": options.disk_template,
        "pnode": pnode,
        "snode": snode,
        "hypervisor": hypervisor,
        "hvparams": hvparams or None,
        "beparams": types.typed(options.beparams, types.BACKEND, "backend") or None,
        "group_name": options.nodegroup,
        "iallocator": options.iallocator,
        "file_driver": options.file_driver,
        "file_storage_dir": options.file_storage_dir,
        "osparams": options.osparams or None,
        "osparams_private": options.osparams_private or None,
        "osparams_secret": options.osparams_secret or None,
        "tags": parse_list(options.tags or "") or None,
        "helper_startup_timeout": options.helper_startup_timeout,
        "helper_shutdown_timeout": options.helper_shutdown_timeout,
    }


def _disks(options: Parsed) -> list[Device]:
    """The disks; what is committed has those that were reserved, unless others are given."""
    if options.commit and not options.disks and options.sd_size is None:
        return []
    return [*disks_of(options.disk_template, options.disks, options.sd_size), *old_sizes.swap_disks(options)]


def switches(options: Parsed, yes: Sequence[str], no: Sequence[str]) -> dict[str, Any]:
    """What is said without a value, where it was said."""
    given = vars(options)
    return {
        **{name: unless(False, given[name]) for name in yes},
        **{name: unless(True, given[name]) for name in no},
    }


def nodes_of(text: str | None) -> tuple[str | None, str | None]:
    """`pnode:snode`, or only the first."""
    if text is None:
        return None, None
    pnode, _colon, snode = text.partition(":")
    if not pnode:
        raise OpPrereqError(f"--node {text!r} names no primary node: give PNODE or PNODE:SNODE", ECode.INVAL)
    return pnode, snode or None


def hypervisor_of(given: tuple[str, Any] | None) -> tuple[str | None, dict[str, Any]]:
    """The hypervisor and its parameters in their types."""
    if given is None:
        return None, {}
    name, settings = given
    if not isinstance(settings, dict):
        raise OpPrereqError("--hypervisor-parameters wants HYPERVISOR:KEY=VALUE,...", ECode.INVAL)
    return name, types.hypervisor_params(settings)


COMMON_OPTIONS = (
    BACKEND,
    Option(("--disk",), "disks", "a disk, as INDEX:size=SIZE,KEY=VALUE,...", "identkeyval", [], "append"),
    Option(
        ("-t", "--disk-template"), "disk_template", "how the disks are kept", "choice", choices=TEMPLATES,
        metavar="TEMPL",
    ),
    Option(("--file-storage-dir",), "file_storage_dir", "directory below the file storage", "string", metavar="<DIR>"),
    Option(
        ("--file-driver",), "file_driver", "driver of file disks", "choice", choices=("blktap", "loop", "blktap2"),
        metavar="<DRIVER>",
    ),
    Option(
        ("-H", "--hypervisor-parameters"), "hypervisor", "the hypervisor and its parameters, as NAME:KEY=VALUE,...",
        "identkeyval", old_flags=("--hypervisor",),
    ),
    IALLOCATOR,
    Option(("--net",), "nics", "a NIC, as INDEX:KEY=VALUE,...", "identkeyval", [], "append"),
    Option(("-n", "--node"), "node", "the nodes", "string", metavar="<pnode>[:<snode>]"),
    NODE_GROUP,
    negative("--no-ip-check", "ip_check", "do not check that the address is free"),
    negative("--no-conflicts-check", "conflicts_check", "allow addresses that belong to a network, or that others have"),
    negative("--no-name-check", "name_check", "do not resolve the name"),
    switch("--no-nics", "no_nics", "create no NIC"),
    negative("--no-wait-for-sync", "wait_for_sync", "do not wait until the disks are in sync"),
    Option(("-O", "--os-parameters"), "osparams", "parameters of the OS definition", "keyval", {}),
    Option(
        ("--os-parameters-private",), "osparams_private", "OS parameters kept but not shown", "keyprivateval", {}
    ),
    Option(("--os-parameters-secret",), "osparams_secret", "OS parameters that are never kept", "keyprivateval", {}),
    Option(("-s", "--os-size"), "sd_size", "size of the only disk", "unit", metavar="<size>"),
    switch("--opportunistic-locking", "opportunistic_locking", "choose among the nodes that are free to lock"),
    *SUBMITTING,
    Option(("--tags",), "tags", "tags of the instance, comma separated", "string"),
    DRY_RUN,
    PRIORITY,
    switch("--ignore-ipolicy", "ignore_ipolicy", "allow what the instance policy forbids"),
    Option(
        ("--helper-startup-timeout",), "helper_startup_timeout", "seconds the helper machine may take to start", "int"
    ),
    Option(
        ("--helper-shutdown-timeout",), "helper_shutdown_timeout", "seconds the helper machine may take to stop", "int"
    ),
)  # fmt: skip

OPTIONS = (
    *COMMON_OPTIONS,
    switch("--forthcoming", "forthcoming", "only reserve name, addresses and place"),
    switch("--commit", "commit", "create what was reserved before"),
    negative("--no-start", "start", "do not start the instance"),
    Option(("-o", "--os-type"), "os", "the OS definition to install", "string", metavar="<os>"),
    switch("--force-variant", "force_variant", "take a variant that the OS definition does not list"),
    switch("--no-install", "no_install", "do not run the scripts of the OS definition"),
    Option(
        ("-c", "--communication"), "instance_communication", "whether the instance can talk to its node", "bool"
    ),
    *old_sizes.OPTIONS,
)  # fmt: skip

ADD = Command(add, ONE_HOST, OPTIONS)
