"""Making the disks that were planned: their names and ids first, then they themselves on their node."""

from collections.abc import Iterator, Sequence
from typing import Any

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.on_nodes import homes
from ganeti_tx.logic.disks.plan import DiskPlan
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.logical_id import Minor, NodeUuid, Port, Secret, kinds
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevCreate, BlockdevRemove
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError


async def make_disks(config: IConfig, plans: Sequence[DiskPlan], homes: Sequence[str]) -> tuple[Disk, ...]:
    """The disks, each with a uuid, and a name on its nodes that nothing else has.

    @param homes: the nodes (uuids) of their instance, the primary one first.
    """
    return tuple([await make_disk(config, plan, index, homes) for index, plan in enumerate(plans)])


async def make_disk(config: IConfig, plan: DiskPlan, index: int, homes: Sequence[str]) -> Disk:
    """One disk, with those that it is made of."""
    template = TEMPLATES[plan.template]
    uuid = await config.generate_uuid()
    name = template.name.format(uuid=uuid, index=index)
    on = () if template.shared else tuple(homes[: 1 + template.secondaries])
    return Disk(
        serial_no=1,
        uuid=uuid,
        dev_type=plan.template,
        logical_id=await new_id(config, plan, name, on),
        size=plan.size,
        children=tuple([await make_child(config, child, name, on) for child in plan.children]),
        iv_name=f"disk/{index}",
        mode=plan.mode,
        nodes=on,
        name=plan.name,
        spindles=plan.spindles,
    )


async def make_child(config: IConfig, plan: DiskPlan, whole: str, on: tuple[str, ...]) -> Disk:
    """One that a disk is made of. @param whole: the name of that disk."""
    return Disk(
        serial_no=1,
        uuid=await config.generate_uuid(),
        dev_type=plan.template,
        logical_id=await new_id(config, plan, whole + plan.suffix, on),
        size=plan.size,
        mode=plan.mode,
        nodes=on,
    )


async def new_id(config: IConfig, plan: DiskPlan, name: str, on: Sequence[str]) -> tuple[Any, ...]:
    """A logical id by place and name, or for a disk on several nodes put together from what the cluster hands out."""
    template = TEMPLATES[plan.template]
    if template.locate is not None:
        return template.locate(plan.place, name)
    handed: dict[object, Iterator[Any]] = {
        NodeUuid: iter(on),
        Minor: iter(await config.allocate_minors(on)),
        Port: iter([await config.allocate_port()]),
        Secret: iter([await config.generate_secret()]),
    }
    return tuple(next(handed[kind]) for kind in kinds(template.logical_id))


def creation(index: int) -> str:
    """The title of the step that creates a disk."""
    return f"create disk/{index}"


def creations(target: InstanceView) -> list[PlannedStep]:
    """A step for each disk, on all its nodes."""
    return [
        PlannedStep(
            creation(index),
            tuple(node.name for node in homes(target, disk)),
            (f"disk/{index} of instance {target.instance.name}",),
        )
        for index, disk in enumerate(target.disks)
    ]


async def create_disks(nodes: INodeRpc, target: InstanceView, steps: Steps) -> None:
    """Create every disk on each of its nodes; each is removed again if something fails later. @raise OpExecError."""
    for index, disk in enumerate(target.disks):
        removals = {node.name: removal(target, node, index) for node in homes(target, disk)}
        async with steps.step(creation(index), *removals.values()):
            for node in homes(target, disk):
                try:
                    await create_disk(nodes, target, node, target.disk_specs(node)[index])
                except RpcError as error:
                    if not error.may_be_done:
                        steps.nothing_to_undo(removals[node.name])
                    raise OpExecError(
                        f"could not create disk/{index} of instance {target.instance.name}: {error}"
                    ) from None


def removal(target: InstanceView, node: Node, index: int) -> Undo:
    """What removes a disk from one of its nodes."""
    owner, spec = target.instance.name, target.disk_specs(node)[index]
    return on_node(f"remove disk/{index} of instance {owner}", node, BlockdevRemove(disk=spec, owner=owner))


async def create_disk(nodes: INodeRpc, target: InstanceView, node: Node, spec: DiskSpec) -> None:
    """One disk on one node. @raise RpcError: it is not there, or nobody knows."""
    await nodes.call(node, BlockdevCreate(disk=spec, owner=target.instance.name))
