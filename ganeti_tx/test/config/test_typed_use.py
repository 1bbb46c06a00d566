"""A logical unit's use of the configuration, as far as a type checker sees it: every operation, with what it gives.

mypy checks this file with all others: a wrong argument that were not an error would leave an ignore unused, which is one.
"""

from typing import assert_type

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.enums import AdminState, AdminStateSource, TagKind
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView, InstanceViews
from ganeti_tx.model.network import Network
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup


async def read(config: IConfig) -> None:
    """What changes nothing."""
    assert_type(await config.cluster(), Cluster)
    assert_type(await config.node("node1"), Node)
    assert_type(await config.nodes(), list[Node])
    assert_type(await config.nodes(("node1", "node2")), list[Node])
    assert_type(await config.group("default"), NodeGroup)
    assert_type(await config.groups(identifiers=["default"]), list[NodeGroup])
    assert_type(await config.instance("web1"), Instance)
    assert_type(await config.instances(), list[Instance])
    assert_type(await config.instance_names(), list[str])
    assert_type(await config.instance_view("web1"), InstanceView)
    assert_type(await config.instance_views(["web1"]), InstanceViews)
    assert_type(await config.instances_of_node("node1"), tuple[list[Instance], list[Instance]])
    assert_type(await config.disks("web1"), list[Disk])
    assert_type(await config.network("lan"), Network)
    assert_type(await config.networks(), list[Network])
    assert_type(await config.filters(), list[FilterRule])
    assert_type(await config.tags(TagKind.CLUSTER, None), list[str])
    assert_type(await config.verify(), list[str])


async def change_instances(config: IConfig, instance: Instance, disk: Disk) -> None:
    """Changes of instances and their disks."""
    assert_type(await config.update_instance(instance), Instance)
    state = config.set_instance_state("uuid", AdminState.UP, source=AdminStateSource.ADMIN, disks_active=True)
    assert_type(await state, Instance)
    assert_type(await config.update_disk(disk), Disk)
    await config.add_instance(instance, [disk])
    await config.add_disk("uuid", disk)
    await config.add_disk("uuid", disk, 0)
    await config.remove_disk("uuid")
    await config.remove_instance("uuid")


async def change_others(config: IConfig, node: Node, group: NodeGroup, network: Network, rule: FilterRule) -> None:
    """Changes of all else."""
    assert_type(await config.update_cluster(await config.cluster()), Cluster)
    assert_type(await config.update_node(node), Node)
    assert_type(await config.update_group(group), NodeGroup)
    assert_type(await config.update_network(network), Network)
    await config.add_node(node, None, "digest")
    await config.change_nodes([node], {"uuid": "digest"})
    await config.remove_node("uuid")
    await config.add_group(group)
    await config.remove_group("uuid")
    await config.add_network(network)
    await config.remove_network("uuid")
    await config.put_filter(rule)
    await config.remove_filter("uuid")
    await config.change_tags(TagKind.NODE, "node1", ["a"], remove=[])


async def reserve(config: IConfig) -> None:
    """What is kept for its owner, and the copies on other nodes."""
    assert_type(await config.generate_mac(None), str)
    assert_type(await config.generate_uuid(), str)
    assert_type(await config.allocate_port(), int)
    assert_type(await config.generate_ip("lan"), str)
    assert_type(await config.allocate_minors(["uuid"]), list[int])
    assert_type(await config.generate_secret(), str)
    await config.reserve_mac("aa:00:00:00:00:01")
    await config.reserve_storage("shelf: board=3")
    await config.reserve_ip("lan", "192.0.2.1")
    await config.drop_reservations()
    await config.redistribute()
    await config.when_distributed()
    assert_type(await config.undistributed(), list[tuple[str, str]])


async def misuse(config: IConfig, instance: Instance, disk: Disk) -> None:
    """What a type checker refuses: another type, one argument too few or too many, another name, what is not given."""
    await config.node(7)  # type: ignore[arg-type]
    await config.nodes([7])  # type: ignore[list-item]
    await config.instance_view()  # type: ignore[call-arg]
    await config.add_instance(instance, disk)  # type: ignore[arg-type]
    await config.update_disk(instance)  # type: ignore[arg-type]
    await config.set_instance_state("uuid", "up", AdminStateSource.ADMIN, True)  # type: ignore[arg-type]
    await config.remove_disk("uuid", True)  # type: ignore[call-arg]
    await config.add_disk("uuid", disk, place=0)  # type: ignore[call-arg]
    await config.reserve_ip("lan")  # type: ignore[call-arg]
    await config.no_such_operation()  # type: ignore[attr-defined]
    name: int = await config.generate_uuid()  # type: ignore[assignment]
    assert name
