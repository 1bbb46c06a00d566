"""Whether nodes reach one another, the master has the cluster's address, and bridges are there (reference: verify.json)."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.logic.verify.scene import GroupScene, Subject, Told
from ganeti_tx.logic.verify.verdict import Verdict
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.verify_codes import VerifyCode

NET = VerifyCode.ENODENET
NET_TEST = "node-net-test"


def peers(scene: GroupScene) -> list[Node]:
    """All nodes of the group, and the first of each other group, so that the groups reach each other."""
    others: dict[str, Node] = {}
    for node in sorted(scene.everything.nodes.values(), key=lambda node: node.name):
        if not node.offline and node.group != scene.group.uuid:
            others.setdefault(node.group, node)
    return [*scene.online, *others.values()]


def ask_network(scene: GroupScene) -> Mapping[str, Any]:
    """Whom it reaches."""
    addresses = {address for node in peers(scene) for address in (node.primary_ip, node.secondary_ip)}
    return {NET_TEST: sorted(addresses | {scene.cluster.master_ip})}


def judge_network(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of each pair with this node, on both networks."""
    unreached: list[str] = told.check(node, NET_TEST, [])
    for peer in peers(scene):
        bad = [kind for kind, address in interfaces(peer) if address in unreached]
        text = f"tcp communication with node '{peer.name}': failure using the {' and '.join(bad)} interface(s)"
        yield Verdict(NET, node.name, text, bool(bad))


def interfaces(node: Node) -> list[tuple[str, str]]:
    """A node's addresses with their kinds; one that is both is the primary one."""
    found = [("primary", node.primary_ip)]
    return found if node.secondary_ip == node.primary_ip else [*found, ("secondary", node.secondary_ip)]


def judge_master_ip(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of the master; nobody but the programs from outside misses the address. If it has it the others must reach it there."""
    cluster = scene.cluster
    if node.uuid != cluster.master_node:
        unreached: list[str] = told.check(node, NET_TEST, [])
        wrong = cluster.master_ip in unreached and bool(told.has_master_ip.value)
        yield Verdict(NET, node.name, f"cannot reach the master IP {cluster.master_ip}", wrong)
    elif told.has_master_ip.error is None:
        text = (
            f"the master node cannot reach the master IP (not configured?): it does not have the cluster's address "
            f"{cluster.master_ip} (on {cluster.master_netdev}); 'gnt-cluster activate-master-ip' gives it to it, or says why not"
        )
        yield Verdict(NET, node.name, text, not told.has_master_ip.value, warning=True)


def bridges(view: InstanceView) -> set[str]:
    """Those that an instance is plugged into."""
    specs = (view.nic_spec(nic) for nic in view.instance.nics)
    return {spec.link for spec in specs if spec.mode == NicMode.BRIDGED}


def ask_bridges(scene: GroupScene) -> Mapping[str, Any]:
    """Which bridges are missing, of all that the group's instances use."""
    used = {bridge for view in scene.instances for bridge in bridges(view)}
    return {"bridges": sorted(used)} if used else {}


def judge_bridges(scene: GroupScene, told: Told, node: Node) -> Iterator[Verdict]:
    """Of the bridges of the instances that run there, or may after a failover."""
    own = [view for view in scene.instances if node.uuid in view.nodes]
    wanted = {bridge for view in own for bridge in bridges(view)}
    missing = sorted(wanted.intersection(told.check(node, "bridges", [])))
    yield Verdict(NET, node.name, f"missing bridges: {', '.join(missing)}", bool(missing))


SUBJECTS = (
    Subject(judge_network, ask_network),
    Subject(judge_master_ip),
    Subject(judge_bridges, ask_bridges, of_hosts=True),
)
