"""What a job may read and change of the cluster configuration. There is one writer behind it."""

from collections.abc import Mapping, Sequence

from zope.interface import Interface

from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, InstanceViews
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup


class IConfigReader(Interface):
    """Typed answers from one consistent state; a coroutine each.

    An identifier is a name, a unique short name or a uuid (design-2.1). @raise OpPrereqError: unknown_entity, with the
    identifier in the text.
    """

    async def cluster() -> Cluster:
        """The cluster object."""

    async def node(identifier: str) -> Node:
        """One node."""

    async def nodes(identifiers: Sequence[str] | None = None) -> list[Node]:
        """The nodes named, in that order; every node, by name, without an argument."""

    async def group(identifier: str) -> NodeGroup:
        """One node group."""

    async def groups(identifiers: Sequence[str] | None = None) -> list[NodeGroup]:
        """The groups named, in that order; every group, by name, without an argument."""

    async def instance(identifier: str) -> Instance:
        """One instance."""

    async def instances(identifiers: Sequence[str] | None = None) -> list[Instance]:
        """The instances named, in that order; every instance, by name, without an argument."""

    async def instance_names() -> list[str]:
        """The names alone, in order."""

    async def instance_view(identifier: str) -> InstanceView:
        """One instance with its disks, nodes, groups, networks and the cluster, all from one state."""

    async def instance_views(identifiers: Sequence[str] | None = None) -> InstanceViews:
        """The same of the instances named, in that order; of every instance, by name, without an argument."""

    async def instances_of_node(identifier: str) -> tuple[list[Instance], list[Instance]]:
        """The instances that have the node as primary, and those that have a disk on it as secondary."""

    async def disks(instance: str) -> list[Disk]:
        """An instance's disks in their order."""

    async def network(identifier: str) -> Network:
        """One network."""

    async def networks(identifiers: Sequence[str] | None = None) -> list[Network]:
        """The networks named, in that order; every network, by name, without an argument."""

    async def filters() -> list[FilterRule]:
        """Every filter rule, in the order in which they are asked: by priority, watermark, uuid."""

    async def tags(kind: TagKind, name: str | None) -> list[str]:
        """The tags of one object, sorted; `name` is None for the cluster."""

    async def verify() -> list[str]:
        """Every inconsistency of the configuration, a line each."""


class IConfig(IConfigReader):
    """Named changes; each is checked, counted in the serial numbers and on disk before its Deferred fires.

    @raise ConfigurationError: the change would make the configuration inconsistent; nothing was changed.
    """

    async def add_instance(instance: Instance, disks: Sequence[Disk]) -> None:
        """Add an instance with its disks; what was reserved for it is now its own."""

    async def update_instance(instance: Instance) -> Instance:
        """Replace an instance whose serial number has not changed since it was read; gives the stored value."""

    async def set_instance_state(
        uuid: str, admin_state: AdminState, source: AdminStateSource, disks_active: bool
    ) -> Instance:
        """Say what the operator wants of it."""

    async def remove_instance(uuid: str) -> None:
        """Remove an instance with its disks; its network port goes back to the pool."""

    async def update_disk(disk: Disk) -> Disk:
        """Replace a disk whose serial number has not changed."""

    async def add_disk(instance: str, disk: Disk, index: int | None = None) -> None:
        """Add a disk to the instance (a uuid), before the disk at `index`, or last."""

    async def remove_disk(uuid: str) -> None:
        """Remove a disk, also from its instance."""

    async def add_node(node: Node, certificate_digest: str | None, server_digest: str | None) -> None:
        """Add a node to its group; the digest, if it is a master candidate, lets it make node calls; by the other it is known."""

    async def update_node(node: Node) -> Node:
        """Replace a node whose serial number has not changed."""

    async def change_nodes(nodes: Sequence[Node], digests: Mapping[str, str]) -> None:
        """As update_node for several, all or none; a node that becomes a candidate needs its certificate's digest."""

    async def remove_node(uuid: str) -> None:
        """Remove a node that has no instances."""

    async def add_group(group: NodeGroup) -> None:
        """Add a node group without nodes; moving nodes into it is a change of the nodes."""

    async def update_group(group: NodeGroup) -> NodeGroup:
        """Replace a node group whose serial number has not changed."""

    async def remove_group(uuid: str) -> None:
        """Remove a node group that has no nodes and is not the last."""

    async def add_network(network: Network) -> None:
        """Add a network."""

    async def update_network(network: Network) -> Network:
        """Replace a network whose serial number has not changed."""

    async def remove_network(uuid: str) -> None:
        """Remove a network that nothing is connected to."""

    async def put_filter(rule: FilterRule) -> None:
        """Add a filter rule, or replace the one of its uuid."""

    async def remove_filter(uuid: str) -> None:
        """Remove a filter rule."""

    async def update_cluster(cluster: Cluster) -> Cluster:
        """Replace the cluster object whose serial number has not changed."""

    async def change_tags(kind: TagKind, name: str | None, add: Sequence[str], remove: Sequence[str]) -> None:
        """Add and remove tags in one change. @raise TagError: not a tag, too many, or one to remove is not there."""

    async def generate_mac(network: str | None) -> str:
        """A MAC address that nobody has; reserved for this owner until it ends."""

    async def reserve_mac(mac: str) -> None:
        """Claim a given MAC address. @raise ReservationError: somebody has it."""

    async def generate_uuid() -> str:
        """A uuid that no object of the configuration has."""

    async def allocate_port() -> int:
        """A TCP port of the cluster's pool for a console; reserved for this owner until the instance is added."""

    async def generate_ip(network: str) -> str:
        """An address of the network that nobody has; reserved for this owner. @raise ReservationError: it is full."""

    async def reserve_ip(network: str, address: str) -> None:
        """Claim a given address of a network. @raise ReservationError: somebody has it, or it is not in the network."""

    async def allocate_minors(nodes: Sequence[str]) -> list[int]:
        """A free DRBD minor for each node (a uuid) in the list, reserved for this owner; a node may occur repeatedly."""

    async def generate_secret() -> str:
        """A secret for a mirrored disk that no other disk has."""

    async def drop_reservations() -> None:
        """Give back what this owner reserved and did not use."""

    async def redistribute() -> None:
        """Begin to send everything to every node once more, key files too."""

    async def when_distributed() -> None:
        """Fires when every reachable candidate and node has the present state or a newer one."""

    async def undistributed() -> list[tuple[str, str]]:
        """The nodes that could not be given the present state, and why; it is tried again."""
