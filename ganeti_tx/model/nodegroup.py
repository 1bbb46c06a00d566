"""A group of nodes between which instances move freely."""

from collections.abc import Mapping

import msgspec

from ganeti_tx.model.base import Params, Tracked, nothing
from ganeti_tx.model.enums import AllocPolicy, DiskTemplate
from ganeti_tx.model.params.ipolicy import PartialPolicy


class NodeGroup(Tracked, frozen=True, kw_only=True):
    """One group: parameters differ from the cluster's; `networks` maps a network's uuid to nicparams."""

    uuid: str
    name: str
    alloc_policy: AllocPolicy
    ndparams: Params
    ipolicy: PartialPolicy
    diskparams: Mapping[DiskTemplate, Params]
    networks: Mapping[str, Params]
    members: tuple[str, ...] = msgspec.field(default_factory=nothing)
    tags: tuple[str, ...] = msgspec.field(default_factory=nothing)
    hv_state_static: Params = msgspec.field(default_factory=dict)
    disk_state_static: Params = msgspec.field(default_factory=dict)
