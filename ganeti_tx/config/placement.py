"""Which instances and disks are on a node."""

from collections.abc import Iterable

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.instance import Instance


def nodes_of(disk: Disk) -> set[str]:
    """The nodes (uuids) that hold a disk; none for one on shared storage."""
    return {*disk.nodes, *disk.mirrors}


def nodes_of_instance(config: ConfigData, instance: Instance) -> set[str]:
    """The nodes (uuids) that hold any of an instance's disks, and its primary node."""
    disks = (config.disks[uuid] for uuid in instance.disks if uuid in config.disks)
    return {instance.primary_node}.union(*(nodes_of(disk) for disk in disks))


def primaries(config: ConfigData, node: str) -> list[Instance]:
    """The instances whose primary node it is, by name."""
    return by_name(instance for instance in config.instances.values() if instance.primary_node == node)


def secondaries(config: ConfigData, node: str) -> list[Instance]:
    """The instances that have a disk on the node and another primary node, by name."""
    others = (instance for instance in config.instances.values() if instance.primary_node != node)
    return by_name(instance for instance in others if node in nodes_of_instance(config, instance))


def instances_on(config: ConfigData, node: str) -> list[Instance]:
    """Both."""
    return [*primaries(config, node), *secondaries(config, node)]


def disks_on(config: ConfigData, node: str) -> list[str]:
    """The uuids of all disks on the node."""
    return sorted(uuid for uuid, disk in config.disks.items() if node in nodes_of(disk))


def by_name(instances: Iterable[Instance]) -> list[Instance]:
    """In the order of names."""
    return sorted(instances, key=lambda instance: instance.name)
