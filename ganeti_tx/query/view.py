"""One snapshot of the configuration with what can be derived from it, worked out when first asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

from attrs import define, field

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.lookup import NameIndex, not_listed
from ganeti_tx.model.natural_order import natural
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.query.encoded import AllRows


class Named(Protocol):
    """What has a name and a uuid."""

    @property
    def name(self) -> str: ...

    @property
    def uuid(self) -> str: ...


N = TypeVar("N", bound=Named)


class View:
    """Name indexes, objects in natural order, and the references of the configuration read backwards."""

    def __init__(self, config: ConfigData) -> None:
        self.config = config
        self._secondary_nodes: dict[str, list[str]] = {}

    @property
    def cluster(self) -> Cluster:
        """The cluster's settings."""
        return self.config.cluster

    @cached_property
    def instances(self) -> Sequence[Instance]:
        """Every instance in natural order."""
        return in_order(self.config.instances.values())

    @cached_property
    def nodes(self) -> Sequence[Node]:
        """Every node in natural order."""
        return in_order(self.config.nodes.values())

    @cached_property
    def groups(self) -> Sequence[NodeGroup]:
        """Every node group in natural order."""
        return in_order(self.config.nodegroups.values())

    @cached_property
    def networks(self) -> Sequence[Network]:
        """Every network in natural order."""
        return in_order(self.config.networks.values())

    @cached_property
    def instance_names(self) -> NameIndex[Instance]:
        """Instances by name."""
        return NameIndex("instance", self.config.instances, not_listed)

    @cached_property
    def node_names(self) -> NameIndex[Node]:
        """Nodes by name."""
        return NameIndex("node", self.config.nodes, not_listed)

    @cached_property
    def group_names(self) -> NameIndex[NodeGroup]:
        """Node groups by name."""
        return NameIndex("node group", self.config.nodegroups, not_listed)

    @cached_property
    def network_names(self) -> NameIndex[Network]:
        """Networks by name."""
        return NameIndex("network", self.config.networks, not_listed)

    @cached_property
    def primaries(self) -> Mapping[str, Sequence[str]]:
        """The names of the instances of which a node (uuid) is primary."""
        return grouped((instance.primary_node, instance.name) for instance in self.instances)

    @cached_property
    def homes(self) -> Sequence[Node]:
        """The nodes of all instances."""
        return self.homes_of(self.instances)

    def homes_of(self, instances: Iterable[Instance]) -> Sequence[Node]:
        """The nodes on which instances should run, or after a failed move might run."""
        uuids = dict.fromkeys(uuid for each in instances for uuid in (each.primary_node, *self.secondary_nodes(each)))
        return [self.config.nodes[uuid] for uuid in uuids if uuid in self.config.nodes]

    @cached_property
    def secondaries(self) -> Mapping[str, Sequence[str]]:
        """The names of the instances of which a node (uuid) is secondary."""
        return grouped((node, instance.name) for instance in self.instances for node in self.secondary_nodes(instance))

    @cached_property
    def members(self) -> Mapping[str, Sequence[Node]]:
        """The nodes of a group (uuid)."""
        return grouped((node.group, node) for node in self.nodes)

    @cached_property
    def users(self) -> Mapping[str, Sequence[str]]:
        """The names of the instances that have a NIC in a network (uuid)."""
        pairs = ((nic.network, instance.name) for instance in self.instances for nic in instance.nics if nic.network)
        return grouped(dict.fromkeys(pairs))

    def disks(self, instance: Instance) -> list[Disk]:
        """The instance's disks in their order."""
        disks = self.config.disks
        return [disks[uuid] for uuid in instance.disks if uuid in disks]

    def secondary_nodes(self, instance: Instance) -> list[str]:
        """The uuids of the nodes that mirror the instance's disks."""
        known = self._secondary_nodes.get(instance.uuid)
        if known is None:
            known = self._secondary_nodes[instance.uuid] = self._mirrors(instance)
        return known

    def _mirrors(self, instance: Instance) -> list[str]:
        nodes = (node for disk in self.disks(instance) for node in disk.mirrors)
        return [node for node in dict.fromkeys(nodes) if node != instance.primary_node]

    def node_name(self, uuid: str) -> str | None:
        """A node's name; None when there is no such node."""
        node = self.config.nodes.get(uuid)
        return node.name if node is not None else None

    def group_of(self, node: str) -> NodeGroup | None:
        """The group of a node (uuid)."""
        found = self.config.nodes.get(node)
        return self.config.nodegroups.get(found.group) if found is not None else None


@define
class Views:
    """The view of the newest snapshot; as long as the snapshot stays the same, so does the view."""

    snapshot: Callable[[], ConfigData]
    _last: View | None = field(default=None, init=False)

    def __call__(self) -> View:
        """The view of now."""
        config = self.snapshot()
        if self._last is None or self._last.config is not config:
            self._last = View(config)
        return self._last


K = TypeVar("K")
V = TypeVar("V")


def in_order(things: Iterable[N]) -> AllRows[N]:
    """By name, naturally."""
    return AllRows(sorted(things, key=lambda thing: natural(thing.name)))


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """The second parts by the first."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def chosen(all_: Sequence[N], index: NameIndex[N], names: Sequence[object] | None, strict: bool) -> Sequence[N]:
    """All, or those named, each once.

    They are in the order of their names if strict, and else in natural order, as the packaged daemon answers new and classic
    queries. @raise OpPrereqError: a name is unknown, if strict.
    """
    if names is None:
        return all_
    found: dict[str, N] = {}
    for name in names:
        try:
            held = index.find(str(name))
        except OpPrereqError:
            if strict:
                raise
        else:
            found.setdefault(held.uuid, held)
    return list(found.values() if strict else in_order(found.values()))
