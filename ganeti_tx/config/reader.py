"""IConfigReader over the store in the same process."""

from collections.abc import Awaitable, Callable, Sequence

from zope.interface import implementer

from ganeti_tx.config.changes_tags import tagged
from ganeti_tx.config.interfaces import IConfigReader
from ganeti_tx.config.lookup import NameLookup
from ganeti_tx.config.placement import primaries, secondaries
from ganeti_tx.config.store import ConfigStore
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, InstanceViews, together, view_of
from ganeti_tx.model.lookup import Named
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup


class Names:
    """The indexes by name; one set serves all readers of a store."""

    def __init__(self) -> None:
        self.nodes: NameLookup[Node] = NameLookup("node")
        self.groups: NameLookup[NodeGroup] = NameLookup("node group")
        self.instances: NameLookup[Instance] = NameLookup("instance")
        self.networks: NameLookup[Network] = NameLookup("network")


@implementer(IConfigReader)
class LocalReader:
    """Every answer is of the configuration that is on disk at that moment."""

    def __init__(self, store: ConfigStore, names: Names | None = None) -> None:
        self._store = store
        self._names = names or Names()

    async def cluster(self) -> Cluster:
        """See IConfigReader."""
        return self._store.snapshot.cluster

    async def node(self, identifier: str) -> Node:
        """See IConfigReader."""
        return self._names.nodes.find(self._store.snapshot.nodes, identifier)

    async def nodes(self, identifiers: Sequence[str] | None = None) -> list[Node]:
        """See IConfigReader."""
        return self._names.nodes.some(self._store.snapshot.nodes, identifiers)

    async def group(self, identifier: str) -> NodeGroup:
        """See IConfigReader."""
        return self._names.groups.find(self._store.snapshot.nodegroups, identifier)

    async def groups(self, identifiers: Sequence[str] | None = None) -> list[NodeGroup]:
        """See IConfigReader."""
        return self._names.groups.some(self._store.snapshot.nodegroups, identifiers)

    async def instance(self, identifier: str) -> Instance:
        """See IConfigReader."""
        return self._names.instances.find(self._store.snapshot.instances, identifier)

    async def instances(self, identifiers: Sequence[str] | None = None) -> list[Instance]:
        """See IConfigReader."""
        return self._names.instances.some(self._store.snapshot.instances, identifiers)

    async def instance_names(self) -> list[str]:
        """See IConfigReader."""
        return sorted(instance.name for instance in self._store.snapshot.instances.values())

    async def instance_view(self, identifier: str) -> InstanceView:
        """See IConfigReader."""
        return viewed(self._store.snapshot, await self.instance(identifier))

    async def instance_views(self, identifiers: Sequence[str] | None = None) -> InstanceViews:
        """See IConfigReader."""
        config = self._store.snapshot
        return together(config.cluster, [viewed(config, each) for each in await self.instances(identifiers)])

    async def instances_of_node(self, identifier: str) -> tuple[list[Instance], list[Instance]]:
        """See IConfigReader."""
        node = await self.node(identifier)
        config = self._store.snapshot
        return primaries(config, node.uuid), secondaries(config, node.uuid)

    async def disks(self, instance: str) -> list[Disk]:
        """See IConfigReader."""
        held = await self.instance(instance)
        disks = self._store.snapshot.disks
        for uuid in held.disks:
            if uuid not in disks:
                raise ConfigurationError(f"instance {held.name}: its disk {uuid} is not in the configuration")
        return [disks[uuid] for uuid in held.disks]

    async def network(self, identifier: str) -> Network:
        """See IConfigReader."""
        return self._names.networks.find(self._store.snapshot.networks, identifier)

    async def networks(self, identifiers: Sequence[str] | None = None) -> list[Network]:
        """See IConfigReader."""
        return self._names.networks.some(self._store.snapshot.networks, identifiers)

    async def filters(self) -> list[FilterRule]:
        """See IConfigReader."""
        rules = self._store.snapshot.filters.values()
        return sorted(rules, key=lambda rule: (rule.priority, rule.watermark, rule.uuid))

    async def tags(self, kind: TagKind, name: str | None) -> list[str]:
        """See IConfigReader."""
        uuid = await self.uuid_of(kind, name)
        return sorted(tagged(self._store.snapshot, kind, uuid).tags)

    async def verify(self) -> list[str]:
        """See IConfigReader."""
        return verify(self._store.snapshot)

    async def uuid_of(self, kind: TagKind, name: str | None) -> str | None:
        """The uuid of what can be tagged; None for the cluster. @raise OpPrereqError: unknown_entity."""
        named: dict[TagKind, Callable[[str], Awaitable[Named]]] = {
            TagKind.INSTANCE: self.instance,
            TagKind.NETWORK: self.network,
            TagKind.NODE: self.node,
            TagKind.NODEGROUP: self.group,
        }
        if kind is TagKind.CLUSTER:
            return None
        return (await named[kind](name or "")).uuid


def viewed(config: ConfigData, instance: Instance) -> InstanceView:
    """An instance of the configuration with what belongs to it. @raise ConfigurationError: something of it is not there."""
    return view_of(
        instance,
        cluster=config.cluster,
        disks=config.disks,
        nodes=config.nodes,
        groups=config.nodegroups,
        networks=config.networks,
    )
