"""What a node must know to take over the master address."""

from typing import Literal

from ganeti_tx.model.base import Wire


class MasterNetworkParameters(Wire, frozen=True, kw_only=True):
    """The master's uuid, and the cluster's address with the device that carries it; the family is 2 or 10."""

    uuid: str
    ip: str
    netmask: int
    netdev: str
    ip_family: Literal[2, 10]
