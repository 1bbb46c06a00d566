"""A network interface of an instance."""

from ganeti_tx.model.base import Params, Wire

#: What a request says for the first free address of the network that the interface is in.
POOL = "pool"


class Nic(Wire, frozen=True, kw_only=True):
    """One network interface; `nicparams` holds only what differs from the cluster's."""

    uuid: str
    mac: str
    nicparams: Params
    ip: str | None = None
    name: str | None = None
    network: str | None = None
