"""Objects as the master sends them to nodes: with all that a node cannot look up itself."""

from typing import Any

import msgspec

from ganeti_tx.model.base import Params, nothing
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.nic import Nic


class NicOnNode(Nic, frozen=True, kw_only=True):
    """A NIC with filled nicparams, its network's data, and where the hypervisor plugged it in."""

    netinfo: Params | None = None
    pci: int | None = None
    hvinfo: Params | None = None


class DiskOnNode(Disk, frozen=True, kw_only=True):
    """A disk with filled params, the addresses for its mirror, and where the hypervisor plugged it in."""

    dynamic_params: Params | None = None
    pci: int | None = None
    hvinfo: Params | None = None


class InstanceOnNode(Instance, frozen=True, kw_only=True):
    """An instance with all its parameters filled; `secondary_nodes` are uuids."""

    nics: tuple[NicOnNode, ...] = msgspec.field(default_factory=nothing)
    disks_info: tuple[DiskOnNode, ...] = msgspec.field(default_factory=nothing)
    secondary_nodes: tuple[str, ...] = msgspec.field(default_factory=nothing)
    disk_template: DiskTemplate | None = None


def nic_on_node(nic: Nic, **more: Any) -> NicOnNode:
    """The NIC with `nicparams`, `netinfo`, ... added or exchanged."""
    return NicOnNode(**{**own_fields(nic), **more})


def disk_on_node(disk: Disk, **more: Any) -> DiskOnNode:
    """The disk with `params`, `dynamic_params`, `children`, ... added or exchanged."""
    return DiskOnNode(**{**own_fields(disk), **more})


def instance_on_node(instance: Instance, **more: Any) -> InstanceOnNode:
    """The instance with `hvparams`, `disks_info`, `nics`, ... added or exchanged."""
    return InstanceOnNode(**{**own_fields(instance), **more})


def own_fields(value: msgspec.Struct) -> dict[str, Any]:
    """The fields of one object, not those of the objects inside it."""
    return {field.name: getattr(value, field.name) for field in msgspec.structs.fields(value)}
