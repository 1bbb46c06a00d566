"""What is asked of the configuration, answered from one state of it."""

from collections.abc import Sequence

import attrs

from ganeti_tx.config.changes_tags import tagged
from ganeti_tx.config.lookup import NameLookup
from ganeti_tx.config.placement import primaries, secondaries
from ganeti_tx.config.ssh_files import ssh_setup
from ganeti_tx.config.verify import verify
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, InstanceViews, together, view_of
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.ssh_setup import SshSetup


class Names:
    """The indexes by name; one set serves all readers of a store."""

    def __init__(self) -> None:
        self.nodes: NameLookup[Node] = NameLookup("node")
        self.groups: NameLookup[NodeGroup] = NameLookup("node group")
        self.instances: NameLookup[Instance] = NameLookup("instance")
        self.networks: NameLookup[Network] = NameLookup("network")


@attrs.frozen
class Reader:
    """One state, with the indexes of its names."""

    config: ConfigData
    names: Names

    def cluster(self) -> Cluster:
        """The cluster object."""
        return self.config.cluster

    def node(self, identifier: str) -> Node:
        """One node."""
        return self.names.nodes.find(self.config.nodes, identifier)

    def nodes(self, identifiers: Sequence[str] | None = None) -> list[Node]:
        """The nodes named, in that order; every node, by name, without an argument."""
        return self.names.nodes.some(self.config.nodes, identifiers)

    def group(self, identifier: str) -> NodeGroup:
        """One node group."""
        return self.names.groups.find(self.config.nodegroups, identifier)

    def groups(self, identifiers: Sequence[str] | None = None) -> list[NodeGroup]:
        """The groups named, in that order; every group, by name, without an argument."""
        return self.names.groups.some(self.config.nodegroups, identifiers)

    def instance(self, identifier: str) -> Instance:
        """One instance."""
        return self.names.instances.find(self.config.instances, identifier)

    def instances(self, identifiers: Sequence[str] | None = None) -> list[Instance]:
        """The instances named, in that order; every instance, by name, without an argument."""
        return self.names.instances.some(self.config.instances, identifiers)

    def instance_names(self) -> list[str]:
        """The names alone, in order."""
        return sorted(instance.name for instance in self.config.instances.values())

    def instance_view(self, identifier: str) -> InstanceView:
        """One instance with its disks, nodes, groups, networks and the cluster, all from one state."""
        return viewed(self.config, self.instance(identifier))

    def instance_views(self, identifiers: Sequence[str] | None = None) -> InstanceViews:
        """The same of the instances named, in that order; of every instance, by name, without an argument."""
        return together(self.config.cluster, [viewed(self.config, each) for each in self.instances(identifiers)])

    def everything(self) -> InstanceViews:
        """All instances, with every node, group and network, also those that no instance touches: for allocators."""
        config = self.config
        return InstanceViews(
            cluster=config.cluster,
            instances=tuple(self.instances()),
            disks=config.disks,
            nodes=config.nodes,
            groups=config.nodegroups,
            networks=config.networks,
        )

    def instances_of_node(self, identifier: str) -> tuple[list[Instance], list[Instance]]:
        """The instances that have the node as primary, and those that have a disk on it as secondary."""
        node = self.node(identifier)
        return primaries(self.config, node.uuid), secondaries(self.config, node.uuid)

    def disks(self, instance: str) -> list[Disk]:
        """An instance's disks in their order."""
        held = self.instance(instance)
        disks = self.config.disks
        for uuid in held.disks:
            if uuid not in disks:
                raise ConfigurationError(f"instance {held.name}: its disk {uuid} is not in the configuration")
        return [disks[uuid] for uuid in held.disks]

    def forthcoming_disks(self) -> list[Disk]:
        """The disks that are only reserved."""
        return [disk for disk in self.config.disks.values() if disk.forthcoming]

    def detached_disks(self) -> list[Disk]:
        """The disks that no instance has."""
        held = {uuid for instance in self.config.instances.values() for uuid in instance.disks}
        return [disk for uuid, disk in sorted(self.config.disks.items()) if uuid not in held]

    def network(self, identifier: str) -> Network:
        """One network."""
        return self.names.networks.find(self.config.networks, identifier)

    def networks(self, identifiers: Sequence[str] | None = None) -> list[Network]:
        """The networks named, in that order; every network, by name, without an argument."""
        return self.names.networks.some(self.config.networks, identifiers)

    def filters(self) -> list[FilterRule]:
        """Every filter rule, in the order in which they are asked: by priority, watermark, uuid."""
        return sorted(self.config.filters.values(), key=lambda rule: (rule.priority, rule.watermark, rule.uuid))

    def tags(self, kind: TagKind, name: str | None) -> list[str]:
        """The tags of one object, sorted; `name` is None for the cluster."""
        return sorted(tagged(self.config, kind, name).tags)

    def ssh_setup(self) -> SshSetup | None:
        """What nodes' SSH is told; None when nothing is known of any node's."""
        return ssh_setup(self.config)

    def verify(self) -> list[str]:
        """Every inconsistency of the configuration, a line each."""
        return verify(self.config)


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
