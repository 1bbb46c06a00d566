"""What a node must know to take over the master address."""

from typing import Literal

from ganeti_tx.model.base import Wire
from ganeti_tx.model.cluster import Cluster

#: Length of an address in bits, by its family.
LONGEST_NETMASK = {2: 32, 10: 128}


class MasterNetworkParameters(Wire, frozen=True, kw_only=True):
    """The master's uuid, and the cluster's address with the device that carries it; the family is 2 or 10."""

    uuid: str
    ip: str
    netmask: int
    netdev: str
    ip_family: Literal[2, 10]


def master_network(cluster: Cluster) -> MasterNetworkParameters:
    """What the cluster says of its address."""
    return MasterNetworkParameters(
        uuid=cluster.master_node,
        ip=cluster.master_ip,
        netmask=cluster.master_netmask,
        netdev=cluster.master_netdev,
        ip_family=cluster.primary_ip_family,
    )
