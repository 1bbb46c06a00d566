"""Names and addresses that somebody has already: of nodes and of the cluster itself, and of other instances."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.instance.nics import NicPlan
from ganeti_tx.model.address_pool import AddressPool
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance_communication import is_link_local
from ganeti_tx.model.network import Network
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.nic import fill_nicparams

Key = TypeVar("Key", str, tuple[str, str])

#: How an administrator does it all the same.
UNLESS = "--no-conflicts-check (conflicts_check=false) does not look"
OWN = "another NIC of the same instance"


def check_host_name(name: str, cluster: Cluster, nodes: Iterable[Node]) -> None:
    """@raise OpPrereqError: an instance would be called as a node or the cluster is, and be taken for it."""
    taken = {cluster.cluster_name.lower(): "the cluster", **{node.name.lower(): "a node" for node in nodes}}
    if name in taken:
        raise OpPrereqError(
            f"'{name}' is the name of {taken[name]}; an instance needs one of its own (--no-ip-check does not ask)",
            ECode.EXISTS,
        )


def host_addresses(cluster: Cluster, nodes: Iterable[Node]) -> Mapping[str, str]:
    """Those by which the cluster works, and whose each is."""
    taken = {cluster.master_ip: "the cluster"}
    for node in nodes:
        taken.update({node.primary_ip: f"node {node.name}", node.secondary_ip: f"node {node.name}"})
    return taken


async def check_taken(config: IConfig, plans: Sequence[NicPlan], own: str | None, beside: Sequence[Nic] = ()) -> None:
    """Nodes route what is sent to an address to the NIC that has it, and tell their neighbours so, whoever had it before.

    Addresses of routed NICs are compared within their routing tables; what others do with theirs is not the cluster's business.

    @param own: the uuid of the NICs' instance; None for a new one. @param beside: the NICs that it has or is to have besides.
    @raise OpPrereqError: an address that is given is a node's, the cluster's, or another NIC's.
    """
    if all(plan.ip is None for plan in plans):
        return
    cluster = await config.cluster()
    hosts = host_addresses(cluster, await config.nodes())
    _refuse(hosts, {plan.ip: plan.ip for plan in plans if plan.ip is not None})
    routed = [way for plan in plans if plan.network is None and (way := _way(cluster, plan.ip, plan.params))]
    if routed:
        held = [_way(cluster, nic.ip, nic.nicparams) for nic in beside]
        twice = [way for way in routed if way in held or routed.count(way) > 1]
        others = [(each, nic) for each in await config.instances() if each.uuid != own for nic in each.nics]
        ways = ((_way(cluster, nic.ip, nic.nicparams), f"instance {other.name}") for other, nic in others)
        users = {way: user for way, user in ways if way is not None}
        _refuse({**users, **dict.fromkeys(twice, OWN)}, {way: way[0] for way in routed})


def _way(cluster: Cluster, address: str | None, nicparams: Mapping[str, object]) -> tuple[str, str] | None:
    """The address of a routed NIC, and the routing table that leads to it; None for others."""
    params = fill_nicparams(cluster, nicparams)
    return (address, str(params["link"])) if address is not None and params["mode"] == NicMode.ROUTED else None


def _refuse(users: Mapping[Key, str], asked: Mapping[Key, str]) -> None:
    """@raise OpPrereqError: somebody has one of the addresses that are asked for, each by what would make it the same."""
    for key, address in asked.items():
        if key in users:
            raise OpPrereqError(f"IP {address} of a NIC is already in use by {users[key]}; {UNLESS}", ECode.NOTUNIQUE)


def check_link_local(
    cluster: Cluster, networks: Iterable[Network], network: Network | None, address: str | None
) -> None:
    """Addresses by which instances are known to their nodes are nobody else's, as the nodes tell instances secrets there.

    @param network: of the NIC that is to have the address.
    @raise OpPrereqError: the NIC is in no network, or another one than that for instance communication.
    """
    name = cluster.instance_communication_network
    inside = next((each for each in networks if each.name == name), None) if name else None
    if address is None or (network is not None and (inside is None or network.uuid == inside.uuid)):
        return
    if is_link_local(address) or (inside is not None and AddressPool(inside).holds(address)):
        raise OpPrereqError(
            f"IP {address} of a NIC is among those by which instances talk to their nodes; only NICs in the network for"
            " instance communication can have such",
            ECode.INVAL,
        )
