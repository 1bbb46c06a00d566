"""A machine of the cluster."""

import msgspec

from ganeti_tx.model.base import Params, Tracked, nothing


class Node(Tracked, frozen=True, kw_only=True):
    """One machine: `group` is a node group's uuid, `ndparams` holds only what differs from the group's."""

    uuid: str
    name: str
    primary_ip: str
    secondary_ip: str
    group: str
    master_candidate: bool
    offline: bool
    drained: bool
    master_capable: bool
    vm_capable: bool
    powered: bool
    ndparams: Params
    tags: tuple[str, ...] = msgspec.field(default_factory=nothing)
    hv_state_static: Params = msgspec.field(default_factory=dict)
    disk_state_static: Params = msgspec.field(default_factory=dict)
