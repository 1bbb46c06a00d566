"""The NIC by which an instance talks to its node (reference: network-scripts.json, instance_communication)."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.instance_communication import nic_name
from ganeti_tx.model.nic import POOL
from ganeti_tx.model.opcodes.types import NicKey, NicParams


def asked_nic(instance: str, cluster: Cluster) -> NicParams:
    """What would be said of such a NIC. @raise OpPrereqError: the cluster has no network for it."""
    if network := cluster.instance_communication_network:
        return {NicKey.NAME: nic_name(instance), NicKey.NETWORK: network, NicKey.IP: POOL}
    raise OpPrereqError(
        "the cluster has no network for instance communication; 'gnt-cluster modify --instance-communication-network'"
        " gives it one",
        ECode.STATE,
    )


def with_communication(instance: str, nics: Sequence[NicParams], cluster: Cluster) -> tuple[NicParams, ...]:
    """The NICs that a new instance is asked to have, and this one as the last."""
    name = nic_name(instance)
    return (*(nic for nic in nics if nic.get(NicKey.NAME) != name), asked_nic(instance, cluster))
