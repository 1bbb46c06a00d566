"""IConfig over the store in the same process, for one owner."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from zope.interface import implementer

from ganeti_tx.config import changes_cluster, changes_group, changes_instance, changes_network, changes_node
from ganeti_tx.config.changes_tags import change_tags
from ganeti_tx.config.claims import disk_claims, instance_claims
from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.reader import LocalReader, Names
from ganeti_tx.config.reservations import Owner, Reservations
from ganeti_tx.config.reserving import Reserving
from ganeti_tx.config.store import ConfigStore
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup

#: Gives so many random bytes.
Entropy = Callable[[int], bytes]


async def nobody_else() -> None:
    """There are no other nodes to send anything to."""


@implementer(IConfig)
class LocalConfig(LocalReader):
    """Changes go to the store; what this owner reserved and a change uses is reserved no longer."""

    def __init__(
        self,
        store: ConfigStore,
        reservations: Reservations,
        owner: Owner,
        entropy: Entropy,
        distributed: Callable[[], Awaitable[None]],
        names: Names | None = None,
        redistribute: Callable[[], Awaitable[None]] = nobody_else,
        undistributed: Callable[[], list[tuple[str, str]]] = list,
    ) -> None:
        super().__init__(store, names)
        self._reservations = reservations
        self._owner = owner
        self._distributed = distributed
        self._redistribute = redistribute
        self._undistributed = undistributed
        self._reserving = Reserving(store, reservations, owner, entropy)

    # Instances and disks

    async def add_instance(self, instance: Instance, disks: Sequence[Disk]) -> None:
        """See IConfig."""
        claims = [*instance_claims(instance), *(claim for disk in disks for claim in disk_claims(disk))]
        self._reservations.check(self._owner, claims)
        await self._store.change(changes_instance.add_instance(instance, disks))
        self._reservations.used(self._owner, claims)

    async def update_instance(self, instance: Instance) -> Instance:
        """See IConfig."""
        claims = [*instance_claims(instance)]
        self._reservations.check(self._owner, claims)
        changed = await self._store.change(changes_instance.update_instance(instance))
        self._reservations.used(self._owner, claims)
        return changed.instances[instance.uuid]

    async def set_instance_state(
        self, uuid: str, admin_state: AdminState, source: AdminStateSource, disks_active: bool
    ) -> Instance:
        """See IConfig."""
        change = changes_instance.set_instance_state(uuid, admin_state, source, disks_active)
        return (await self._store.change(change)).instances[uuid]

    async def remove_instance(self, uuid: str) -> None:
        """See IConfig."""
        await self._store.change(changes_instance.remove_instance(uuid))

    async def update_disk(self, disk: Disk) -> Disk:
        """See IConfig."""
        claims = [*disk_claims(disk)]
        self._reservations.check(self._owner, claims)
        changed = await self._store.change(changes_instance.update_disk(disk))
        self._reservations.used(self._owner, claims)
        return changed.disks[disk.uuid]

    async def add_disk(self, instance: str, disk: Disk, index: int | None = None) -> None:
        """See IConfig."""
        claims = [*disk_claims(disk)]
        self._reservations.check(self._owner, claims)
        await self._store.change(changes_instance.add_disk(instance, disk, index))
        self._reservations.used(self._owner, claims)

    async def remove_disk(self, uuid: str) -> None:
        """See IConfig."""
        await self._store.change(changes_instance.remove_disk(uuid))

    # Nodes, groups, networks

    async def add_node(self, node: Node, certificate_digest: str | None, server_digest: str | None) -> None:
        """See IConfig."""
        await self._store.change(changes_node.add_node(node, certificate_digest, server_digest))

    async def update_node(self, node: Node) -> Node:
        """See IConfig."""
        return (await self._store.change(changes_node.update_node(node))).nodes[node.uuid]

    async def change_nodes(self, nodes: Sequence[Node], digests: Mapping[str, str]) -> None:
        """See IConfig."""
        await self._store.change(changes_node.change_nodes(nodes, digests))

    async def remove_node(self, uuid: str) -> None:
        """See IConfig."""
        await self._store.change(changes_node.remove_node(uuid))

    async def add_group(self, group: NodeGroup) -> None:
        """See IConfig."""
        await self._store.change(changes_group.add_group(group))

    async def update_group(self, group: NodeGroup) -> NodeGroup:
        """See IConfig."""
        return (await self._store.change(changes_group.update_group(group))).nodegroups[group.uuid]

    async def remove_group(self, uuid: str) -> None:
        """See IConfig."""
        await self._store.change(changes_group.remove_group(uuid))

    async def add_network(self, network: Network) -> None:
        """See IConfig."""
        await self._store.change(changes_network.add_network(network))

    async def update_network(self, network: Network) -> Network:
        """See IConfig."""
        return (await self._store.change(changes_network.update_network(network))).networks[network.uuid]

    async def remove_network(self, uuid: str) -> None:
        """See IConfig."""
        await self._store.change(changes_network.remove_network(uuid))

    # The cluster, filters, tags

    async def update_cluster(self, cluster: Cluster) -> Cluster:
        """See IConfig."""
        return (await self._store.change(changes_cluster.update_cluster(cluster))).cluster

    async def put_filter(self, rule: FilterRule) -> None:
        """See IConfig."""
        await self._store.change(changes_cluster.put_filter(rule))

    async def remove_filter(self, uuid: str) -> None:
        """See IConfig."""
        await self._store.change(changes_cluster.remove_filter(uuid))

    async def change_tags(self, kind: TagKind, name: str | None, add: Sequence[str], remove: Sequence[str]) -> None:
        """See IConfig."""
        uuid = await self.uuid_of(kind, name)
        await self._store.change(change_tags(kind, uuid, add, remove))

    # Reservations

    async def generate_mac(self, network: str | None) -> str:
        """See IConfig."""
        prefix = None if network is None else (await self.network(network)).mac_prefix
        return self._reserving.mac(prefix)

    async def reserve_mac(self, mac: str) -> None:
        """See IConfig."""
        self._reserving.given_mac(mac)

    async def generate_uuid(self) -> str:
        """See IConfig."""
        return self._reserving.uuid()

    async def allocate_port(self) -> int:
        """See IConfig."""
        return self._reserving.port()

    async def generate_ip(self, network: str) -> str:
        """See IConfig."""
        return self._reserving.address(await self.network(network))

    async def reserve_ip(self, network: str, address: str) -> None:
        """See IConfig."""
        self._reserving.given_address(await self.network(network), address)

    async def allocate_minors(self, nodes: Sequence[str]) -> list[int]:
        """See IConfig."""
        return self._reserving.minors(nodes)

    async def generate_secret(self) -> str:
        """See IConfig."""
        return self._reserving.secret()

    async def drop_reservations(self) -> None:
        """See IConfig."""
        self._reservations.drop(self._owner)

    async def redistribute(self) -> None:
        """See IConfig."""
        await self._redistribute()

    async def when_distributed(self) -> None:
        """See IConfig."""
        await self._distributed()

    async def undistributed(self) -> list[tuple[str, str]]:
        """See IConfig."""
        return self._undistributed()
