"""Other nodes for all disks of an instance that is made anew there."""

from collections.abc import Sequence

from attrs import frozen
from msgspec.structs import replace

from ganeti_tx.allocator.document import instance_entry
from ganeti_tx.allocator.requests import Allocate
from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.allocation import Allocation, allocators, selected
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import check_takes_instances
from ganeti_tx.model.disk import Disk, place_of, with_place
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.types import AllocatorMode


@frozen
class NewHomes:
    """The nodes, the primary one first, and the group that they are in."""

    nodes: tuple[Node, ...]
    group: NodeGroup


def check_homes(target: InstanceView, nodes: Sequence[Node]) -> None:
    """@raise OpPrereqError: one is given twice, takes no instances, or they are of two groups."""
    if len({node.uuid for node in nodes}) != len(nodes):
        raise OpPrereqError(f"node {nodes[0].name} cannot be the primary and the secondary node", ECode.INVAL)
    for node in nodes:
        check_takes_instances(node)
    if len({node.group for node in nodes}) > 1:
        raise OpPrereqError(
            f"nodes {', '.join(node.name for node in nodes)} are in different groups, but instance"
            f" {target.instance.name} can be in one group only",
            ECode.INVAL,
        )


async def chosen_homes(parts: Parts, asked: str | None, view: InstanceView) -> list[Node]:
    """The nodes that an allocator chooses, as for a new instance.

    @raise OpPrereqError: it finds none. @raise OpExecError: it does not work.
    """
    allocation = Allocation(
        config=parts.config,
        nodes=parts.nodes,
        warn=parts.warn,
        names=allocators(asked, view.cluster, AllocatorMode.ALLOCATE),
        template=view.disk_template,
        hypervisor=view.instance.hypervisor,
        group=view.group.uuid,
    )
    chosen = await allocation.ask(request(view))
    known = {node.name: node for node in await parts.config.nodes()}
    for strange in (name for name in chosen.result if name not in known):
        raise OpExecError(f"iallocator '{chosen.allocator}' has chosen {strange!r:.200}, which is no node")
    parts.info(selected(view.instance.name, chosen.allocator, chosen.result))
    return [known[name] for name in chosen.result]


def request(view: InstanceView) -> Allocate:
    """Nodes for the instance, as if it were a new one."""
    entry = instance_entry(view)
    return Allocate(
        name=view.instance.name,
        memory=entry["memory"],
        vcpus=entry["vcpus"],
        spindle_use=entry["spindle_use"],
        os=view.instance.os,
        hypervisor=view.instance.hypervisor.value,
        disk_template=view.disk_template.value,
        disks=entry["disks"],
        disk_space_total=entry["disk_space_total"],
        nics=entry["nics"],
        tags=list(view.instance.tags),
        required_nodes=1 + len(view.secondaries),
    )


async def moved(config: IConfig, view: InstanceView, homes: NewHomes) -> InstanceView:
    """The instance there; its mirrors have new minors, reserved for them."""
    former = [view.primary.uuid, *(node.uuid for node in view.secondaries)]
    there = dict(zip(former, (node.uuid for node in homes.nodes), strict=True))
    disks: list[Disk] = []
    for disk in view.disks:
        place = place_of(disk)
        nodes = tuple(there[uuid] for uuid in place.nodes)
        minors = tuple(await config.allocate_minors(nodes)) if place.minors else ()
        disks.append(with_place(disk, replace(place, nodes=nodes, minors=minors)))
    return replace(
        view,
        instance=replace(view.instance, primary_node=homes.nodes[0].uuid),
        disks=tuple(disks),
        nodes={node.uuid: node for node in homes.nodes},
        groups={homes.group.uuid: homes.group},
    )
