"""What a node must know of an instance: everything filled in, so that the node asks nobody."""

from typing import Any

import msgspec

from ganeti_tx.model.disk_formats import format_of
from ganeti_tx.model.disk_templates import TEMPLATES, WITHOUT_DISKS
from ganeti_tx.model.enums import DiskTemplate


class MirrorEnds(msgspec.Struct, frozen=True, kw_only=True):
    """What of a mirror's logical id is here, on the node that is told, and what is on the other one."""

    local_address: str
    local_minor: int
    peer_address: str
    peer_minor: int
    port: int


class DiskSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One disk with its parameters filled in; `size` is MiB, `index` its place in the instance (-1: not attached).

    `ends` are those of a disk that is mirrored between two nodes, as the one node that gets this must see them.
    """

    uuid: str
    dev_type: str
    size: int
    logical_id: list[Any] | None
    index: int = -1
    mode: str = "rw"
    name: str | None = None
    iv_name: str = ""
    spindles: int | None = None
    params: dict[str, Any] = {}
    children: list["DiskSpec"] = []
    ends: MirrorEnds | None = None
    #: Whether no other disk may lie on the physical volumes of this one (node parameter exclusive_storage).
    exclusive: bool = False
    #: The logical ids of the other volumes of its instance, with which it lies on as few physical volumes as will do; told
    #: when the disk is made.
    beside: list[list[Any]] = []
    #: Whether an instance may have it open, as the configuration knows: it runs, or its disks are activated.
    active: bool = True

    @property
    def format(self) -> str:
        """How its bytes lie in its file, if it is one."""
        return format_of(TEMPLATES[DiskTemplate(self.dev_type)], self.params)

    def __repr__(self) -> str:
        return f"<DiskSpec {self.dev_type} {self.uuid}>"  # the logical id may hold a secret


class NicSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One network interface with mode, link and vlan filled in; `netinfo` is the network's own data when it has one.

    `communication`: it is the one by which the instance talks to its node (`model.instance_communication`).
    """

    uuid: str
    mac: str
    mode: str
    link: str
    vlan: str = ""
    ip: str | None = None
    name: str | None = None
    network: str | None = None
    netinfo: dict[str, Any] | None = None
    communication: bool = False


class InstanceSpec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One instance with hypervisor, backend and OS parameters filled in; memory in MiB.

    `hvparams` and `beparams` hold every parameter of the tables, `osparams` the merged public ones; private and
    secret ones travel apart in `osparams_private` and `osparams_secret`, which no log may print. Nodes are uuids.
    """

    name: str
    uuid: str
    primary_node: str
    hypervisor: str
    os: str
    hvparams: dict[str, Any]
    beparams: dict[str, Any]
    secondary_nodes: list[str] = []
    osparams: dict[str, Any] = {}
    osparams_private: dict[str, Any] = {}
    osparams_secret: dict[str, Any] = {}
    nics: list[NicSpec] = []
    disks: list[DiskSpec] = []
    tags: list[str] = []
    disk_template: str = WITHOUT_DISKS.value
    network_port: int | None = None
    ctime: float = 0.0
    mtime: float = 0.0

    def __repr__(self) -> str:
        return f"<InstanceSpec {self.name}>"
