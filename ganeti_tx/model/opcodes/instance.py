"""Opcodes about what an instance is: its name, its system, its parameters."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.model.enums import DiskTemplate, FileDriver
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.private import Private, Secret
from ganeti_tx.model.opcodes.types import (
    DEFAULT_SHUTDOWN_TIMEOUT,
    ChangeAction,
    DiskChange,
    NicChange,
    NonEmpty,
    Params,
    Positive,
    Seconds,
)


class OpInstanceReinstall(OpCode, tag="OP_INSTANCE_REINSTALL"):
    """Install an operating system anew on the disks of a stopped instance."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    force_variant: bool = False
    os_type: NonEmpty | None = None
    osparams: Params | None = None
    osparams_private: dict[str, Private] | None = None
    osparams_secret: dict[str, Secret] | None = None


class OpInstanceRemove(OpCode, tag="OP_INSTANCE_REMOVE"):
    """Delete an instance with its disks."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    shutdown_timeout: Seconds = DEFAULT_SHUTDOWN_TIMEOUT
    ignore_failures: bool = False


class OpInstanceRename(OpCode, tag="OP_INSTANCE_RENAME"):
    """Give a stopped instance another name."""

    instance_name: str
    instance_uuid: NonEmpty | None = None
    new_name: NonEmpty
    name_check: bool = True
    ip_check: bool = True


class OpInstanceSetParams(OpCode, tag="OP_INSTANCE_SET_PARAMS"):
    """Change an instance: its parameters, disks, cards, template or placement."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None
    force: bool = False
    force_variant: bool = False
    ignore_ipolicy: bool = False
    nics: tuple[NicChange, ...] = ()
    disks: tuple[DiskChange, ...] = ()
    beparams: Params = {}
    runtime_mem: Positive | None = None
    hvparams: Params = {}
    disk_template: DiskTemplate | None = None
    ext_params: Params = {}
    file_driver: FileDriver | None = None
    file_storage_dir: NonEmpty | None = None
    pnode: NonEmpty | None = None
    pnode_uuid: NonEmpty | None = None
    remote_node: NonEmpty | None = None
    remote_node_uuid: NonEmpty | None = None
    iallocator: NonEmpty | None = None
    os_name: NonEmpty | None = None
    osparams: Params = {}
    osparams_private: dict[str, Private] | None = None
    wait_for_sync: bool = True
    offline: bool | None = None
    conflicts_check: bool = True
    hotplug: bool = False
    hotplug_if_possible: bool = False
    instance_communication: bool | None = None

    @classmethod
    def upgrade(cls, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        """Changes as [action or index, parameters] become [action, item, parameters]."""
        lists = {name: raw[name] for name in ("nics", "disks") if isinstance(raw.get(name), (list, tuple))}
        return {**raw, **{name: [current_change(change) for change in changes] for name, changes in lists.items()}}


class OpInstanceQueryData(OpCode, tag="OP_INSTANCE_QUERY_DATA"):
    """Tell everything about instances, asking their nodes unless static."""

    use_locking: bool = False
    instances: tuple[NonEmpty, ...] = ()
    static: bool = False


class OpInstanceConsole(OpCode, tag="OP_INSTANCE_CONSOLE"):
    """Tell how to reach the console of an instance."""

    summary_field = "instance_name"

    instance_name: str
    instance_uuid: NonEmpty | None = None


def current_change(change: object) -> object:
    """An old change in the current form: an index alone is modified, an action alone means the end of the list."""
    match change:
        case [bool(), _]:
            return change
        case [int(index), params]:
            return [ChangeAction.MODIFY, index, params]
        case [ChangeAction.ADD | ChangeAction.ATTACH | ChangeAction.DETACH | ChangeAction.REMOVE as action, params]:
            return [action, -1, params]
    return change
