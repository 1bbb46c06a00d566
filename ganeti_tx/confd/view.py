"""What questions need of a configuration, found once: one view serves all requests until the file changes."""

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from ganeti_tx.confd.messages import DrbdMinor, NodeRole
from ganeti_tx.confd.secrets import without_secrets
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk, logical_id_fault
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.lookup import NameIndex
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.params.nic import connection, fill_nicparams


@frozen(kw_only=True)
class View:
    """An immutable state without secrets, with indexes by what is asked for."""

    config: ConfigData
    nodes: NameIndex[Node]
    instances: NameIndex[Instance]
    default_link: str
    #: By link and address of an instance: the instance.
    by_address: Mapping[str, Mapping[str, Instance]]
    #: By node (uuid).
    primaries: Mapping[str, list[Instance]]
    secondaries: Mapping[str, list[Instance]]
    minors: Mapping[str, list[DrbdMinor]]

    @property
    def serial(self) -> int:
        """The cluster's."""
        return self.config.cluster.serial_no

    def nodes_by_name(self) -> list[Node]:
        """All nodes."""
        return sorted(self.config.nodes.values(), key=lambda node: node.name)

    def role(self, node: Node) -> NodeRole:
        """The first that applies, in Ganeti's order."""
        if node.uuid == self.config.cluster.master_node:
            return NodeRole.MASTER
        if node.drained:
            return NodeRole.DRAINED
        if node.offline:
            return NodeRole.OFFLINE
        return NodeRole.CANDIDATE if node.master_candidate else NodeRole.REGULAR


def view_of(config: ConfigData) -> View:
    """Index a configuration."""
    config = without_secrets(config)
    instances = sorted(config.instances.values(), key=lambda instance: instance.name)
    places = Places(config.nodes)
    for instance in instances:
        places.add(instance, config.disks)
    return View(
        config=config,
        nodes=NameIndex("node", config.nodes),
        instances=NameIndex("instance", config.instances),
        default_link=link_of(config.cluster),
        by_address=addresses_of(config, instances),
        primaries=places.primaries,
        secondaries=places.secondaries,
        minors=places.minors,
    )


def addresses_of(config: ConfigData, instances: list[Instance]) -> dict[str, dict[str, Instance]]:
    """By link and address; of several instances with one address the first by name counts."""
    found: dict[str, dict[str, Instance]] = {}
    for instance in instances:
        for nic in instance.nics:
            if nic.ip is not None:
                node = config.nodes.get(instance.primary_node)
                group = None if node is None else config.nodegroups.get(node.group)
                found.setdefault(link_of(config.cluster, nic, group), {}).setdefault(nic.ip, instance)
    return found


def link_of(cluster: Cluster, nic: Nic | None = None, group: NodeGroup | None = None) -> str:
    """What a network card is tied to in a node group, or would be by default."""
    own = None if nic is None else {**nic.nicparams, **connection(nic, group)}
    return str(fill_nicparams(cluster, own)["link"])


class Places:
    """What is on which node (uuid)."""

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = nodes
        self.primaries: dict[str, list[Instance]] = {uuid: [] for uuid in nodes}
        self.secondaries: dict[str, list[Instance]] = {uuid: [] for uuid in nodes}
        self.minors: dict[str, list[DrbdMinor]] = {uuid: [] for uuid in nodes}

    def add(self, instance: Instance, disks: Mapping[str, Disk]) -> None:
        """An instance with its disks, which are among these."""
        on: set[str] = set()
        for index, uuid in enumerate(instance.disks):
            disk = disks.get(uuid)
            on.update(() if disk is None else disk.nodes)
            for mirror in mirrors_in(disk):
                on.update(self._add_mirror(instance, f"disk/{index}", mirror))
        self.primaries.setdefault(instance.primary_node, []).append(instance)
        for uuid in on - {instance.primary_node}:
            self.secondaries.setdefault(uuid, []).append(instance)

    def _add_mirror(self, instance: Instance, name: str, mirror: Disk) -> Sequence[str]:
        """The nodes (uuids) it is on; one that is not there has no minors, and its peer has none either."""
        known = [(self._nodes[uuid], minor) for uuid, minor in mirror.minors if uuid in self._nodes]
        if len(known) == len(mirror.mirrors):
            for (node, minor), (peer, _minor) in zip(known, reversed(known), strict=True):
                role = "primary" if node.uuid == instance.primary_node else "secondary"
                self.minors[node.uuid].append(DrbdMinor(node.name, minor, instance.name, name, role, peer.name))
        return mirror.mirrors


def mirrors_in(disk: Disk | None) -> Iterator[Disk]:
    """A disk and those it is made of, as far as they are mirrors; one to come may have no place yet."""
    if disk is None:
        return
    if disk.mirrors and not logical_id_fault(disk.dev_type, disk.logical_id):
        yield disk
    for child in disk.children:
        yield from mirrors_in(child)
