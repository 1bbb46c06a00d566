"""An instance: a virtual machine."""

from collections.abc import Mapping

import msgspec

from ganeti_tx.model.base import Params, Tracked, no_params, no_words, nothing, repr_without
from ganeti_tx.model.enums import AdminState, AdminStateSource, Hypervisor
from ganeti_tx.model.nic import Nic

PRIVATE = frozenset({"osparams_private"})


class Instance(Tracked, frozen=True, kw_only=True):
    """One virtual machine; its node and disks are uuids, its parameters hold only what differs from the cluster's."""

    uuid: str
    name: str
    primary_node: str
    os: str
    hypervisor: Hypervisor
    admin_state: AdminState
    admin_state_source: AdminStateSource
    disks_active: bool
    hvparams: Params = msgspec.field(default_factory=no_params)
    beparams: Params = msgspec.field(default_factory=no_params)
    osparams: Mapping[str, str] = msgspec.field(default_factory=no_words)
    osparams_private: Mapping[str, str] = msgspec.field(default_factory=no_words)
    nics: tuple[Nic, ...] = msgspec.field(default_factory=nothing)
    disks: tuple[str, ...] = msgspec.field(default_factory=nothing)
    tags: tuple[str, ...] = msgspec.field(default_factory=nothing)
    network_port: int | None = None
    forthcoming: bool = False

    def __repr__(self) -> str:
        return repr_without(self, PRIVATE)
