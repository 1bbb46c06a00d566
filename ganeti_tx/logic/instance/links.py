"""What nodes are asked before interfaces are plugged in there."""

from collections.abc import Iterable

from ganeti_tx.logic.instance.nics import NicPlan
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance_communication import is_communication
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.model.params.nic import fill_nicparams
from ganeti_tx.rpc.calls.node import BridgesExist


def links_question(hypervisor: str, links: Iterable[NicLink]) -> BridgesExist | None:
    """Whether all of them are there; None when there is nothing to ask for."""
    wanted = [*links]
    bridges = {each.link for each in wanted if each.mode == NicMode.BRIDGED}
    others = {(each.mode, each.link, each.vlan) for each in wanted if each.mode != NicMode.BRIDGED or each.vlan}
    if not wanted:
        return None
    return BridgesExist(
        bridges=sorted(bridges),
        hypervisor=hypervisor,
        links=[NicLink(mode=mode, link=link, vlan=vlan) for mode, link, vlan in sorted(others)],
    )


def links_of(specs: Iterable[NicSpec]) -> list[NicLink]:
    """What interfaces plug into. One by which an instance talks to its node plugs into nothing."""
    return [NicLink(mode=nic.mode, link=nic.link, vlan=nic.vlan) for nic in specs if not nic.communication]


def planned_links(cluster: Cluster, plans: Iterable[NicPlan]) -> list[NicLink]:
    """The same of interfaces that are to be made, when their networks have been joined."""
    filled = [(plan, fill_nicparams(cluster, plan.params)) for plan in plans]
    return [
        NicLink(mode=str(params["mode"]), link=str(params["link"]), vlan=str(params["vlan"]))
        for plan, params in filled
        if not _talks_to_node(cluster, plan, params["mode"])
    ]


def _talks_to_node(cluster: Cluster, plan: NicPlan, mode: object) -> bool:
    network = None if plan.network is None else plan.network.name
    return is_communication(plan.name, network, mode, cluster.instance_communication_network)
