"""What holds for the whole cluster: what it is, and its settings, which the classes below it declare."""

from collections.abc import Mapping

import msgspec

from ganeti_tx.model.base import nothing, repr_without
from ganeti_tx.model.settings.services import ServiceSettings

PRIVATE = frozenset({"osparams_private_cluster"})


class Cluster(ServiceSettings, frozen=True, kw_only=True):
    """The cluster as its configuration has it; nodes are uuids, parameters may be partial: defaults fill them.

    Structs cannot have several bases, so the parts of the settings stand one upon the other.
    """

    uuid: str
    cluster_name: str
    master_node: str
    master_ip: str
    highest_used_port: int
    tcpudp_port_pool: tuple[int, ...]
    rsahostkeypub: str
    candidate_certs: Mapping[str, str]

    tags: tuple[str, ...] = msgspec.field(default_factory=nothing)
    dsahostkeypub: str | None = None

    def __repr__(self) -> str:
        return repr_without(self, PRIVATE)
