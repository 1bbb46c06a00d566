"""Networks."""

from typing import Any

from ganeti_tx.rapi_client.records.base import Entity


class Network(Entity, frozen=True, kw_only=True):
    """A network with its pool of addresses."""

    network: str
    gateway: str | None = None
    network6: str | None = None
    gateway6: str | None = None
    mac_prefix: str | None = None
    free_count: int | None = None
    reserved_count: int | None = None
    #: One character an address: X taken, . free.
    map: str | None = None
    #: [name, mode, link, vlan] of each group that has it.
    group_list: tuple[tuple[Any, ...], ...] = ()
    inst_list: tuple[str, ...] = ()
    external_reservations: str | None = None
