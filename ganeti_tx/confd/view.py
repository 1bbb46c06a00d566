"""What questions need of a configuration, found once: one view serves all requests until the file changes."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from attrs import frozen

from ganeti_tx.confd.messages import NodeRole
from ganeti_tx.confd.secrets import without_secrets
from ganeti_tx.config.placement import nodes_of_instance
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk, drbd_id
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.lookup import NameIndex
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.nic import fill_nicparams


class DrbdMinor(NamedTuple):
    """One mirror's place on a node."""

    node: str
    minor: int
    instance: str
    disk: str
    role: str
    peer: str


@frozen
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
    primaries: dict[str, list[Instance]] = {uuid: [] for uuid in config.nodes}
    secondaries: dict[str, list[Instance]] = {uuid: [] for uuid in config.nodes}
    minors: dict[str, list[DrbdMinor]] = {uuid: [] for uuid in config.nodes}
    for instance in instances:
        primaries.setdefault(instance.primary_node, []).append(instance)
        for uuid in nodes_of_instance(config, instance) - {instance.primary_node}:
            secondaries.setdefault(uuid, []).append(instance)
        for uuid, minor in minors_of(config, instance):
            minors[uuid].append(minor)
    return View(
        config=config,
        nodes=NameIndex("node", config.nodes),
        instances=NameIndex("instance", config.instances),
        default_link=str(fill_nicparams(config.cluster)["link"]),
        by_address=addresses_of(config, instances),
        primaries=primaries,
        secondaries=secondaries,
        minors=minors,
    )


def addresses_of(config: ConfigData, instances: list[Instance]) -> dict[str, dict[str, Instance]]:
    """By link and address; of several instances with one address the first by name counts."""
    found: dict[str, dict[str, Instance]] = {}
    for instance in instances:
        for nic in instance.nics:
            if nic.ip is not None:
                link = str(fill_nicparams(config.cluster, nic.nicparams)["link"])
                found.setdefault(link, {}).setdefault(nic.ip, instance)
    return found


def minors_of(config: ConfigData, instance: Instance) -> Iterator[tuple[str, DrbdMinor]]:
    """The mirrors of an instance, each on both its nodes (uuids)."""
    for index, uuid in enumerate(instance.disks):
        for disk in mirrors_in(config.disks.get(uuid)):
            parts = drbd_id(disk)
            ends = ((parts.node_a, parts.minor_a, parts.node_b), (parts.node_b, parts.minor_b, parts.node_a))
            for node, minor, peer in ends:
                if node in config.nodes and peer in config.nodes:
                    yield (
                        node,
                        DrbdMinor(
                            node=config.nodes[node].name,
                            minor=minor,
                            instance=instance.name,
                            disk=f"disk/{index}",
                            role="primary" if node == instance.primary_node else "secondary",
                            peer=config.nodes[peer].name,
                        ),
                    )


def mirrors_in(disk: Disk | None) -> Iterator[Disk]:
    """A disk and those it is made of, as far as they are mirrors that exist."""
    if disk is None:
        return
    if disk.dev_type is DiskTemplate.DRBD and disk.logical_id:
        yield disk
    for child in disk.children:
        yield from mirrors_in(child)
