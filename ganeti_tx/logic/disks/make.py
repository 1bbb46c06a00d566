"""Making the disks that were planned: their names and ids first, then they themselves on their node."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.on_nodes import homes
from ganeti_tx.logic.disks.plan import DiskPlan, adopted_id
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.steps import Steps
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import together
from ganeti_tx.model.disk_template import Adoption
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.logical_id import Minor, NodeUuid, Port, Secret, kinds
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevCreate, BlockdevRemove, BlockdevRename, DiskCall
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError

#: What makes a disk on one of its nodes, and what takes that back.
Making = tuple[DiskCall[None], Undo]


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
        params=plan.params or None,
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
    """A logical id by place and name, or for a disk on several nodes put together from what the cluster hands out.

    What is always adopted keeps its own.
    """
    template = TEMPLATES[plan.template]
    if template.adoption is Adoption.ALWAYS:
        return adopted_id(plan)
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


def creations(target: InstanceView, only: Collection[int] | None = None) -> list[PlannedStep]:
    """A step for each disk, or each of those that are meant, on all its nodes."""
    return [
        PlannedStep(
            creation(index),
            tuple(node.name for node in homes(target, disk)),
            (f"disk/{index} of instance {target.instance.name}",),
        )
        for index, disk in enumerate(target.disks)
        if only is None or index in only
    ]


async def create_disks(
    nodes: INodeRpc,
    target: InstanceView,
    steps: Steps,
    adopted: Mapping[int, Sequence[Any]] = MappingProxyType({}),
    only: Collection[int] | None = None,
) -> None:
    """Create every disk on each of its nodes; each is removed again if something fails later.

    @param adopted: the logical ids of what is renamed to be a disk, instead; it gets its name back if something fails.
    @param only: the indices of those that are meant, if not all are.
    @raise OpExecError: one could not be made.
    """
    for index, disk in enumerate(target.disks):
        if only is not None and index not in only:
            continue
        made = {node.name: making(target, node, index, adopted.get(index)) for node in homes(target, disk)}
        await create_on(nodes, target, steps, index, made)


async def create_on(
    nodes: INodeRpc, target: InstanceView, steps: Steps, index: int, made: Mapping[str, Making]
) -> None:
    """Create one disk on its nodes, by the call that each node is given. @raise OpExecError: it could not be made."""
    async with steps.step(creation(index), *(undo for _, undo in made.values())):
        for node in homes(target, target.disks[index]):
            call, undo = made[node.name]
            try:
                await nodes.call(node, call)
            except RpcError as error:
                if not error.may_be_done:
                    steps.nothing_to_undo(undo)
                raise OpExecError(
                    f"could not create disk/{index} of instance {target.instance.name}: {error}"
                ) from None


def making(target: InstanceView, node: Node, index: int, adopted: Sequence[Any] | None) -> Making:
    """What makes a disk on one of its nodes, and what takes that back."""
    owner, spec = target.instance.name, target.disk_specs(node)[index]
    if adopted is None:
        whole = together(target.disk_specs(node))[index]
        return BlockdevCreate(disk=whole, owner=owner), removal(target, node, index)
    former, present = list(adopted), list(spec.logical_id or ())
    back = BlockdevRename(disk=spec, owner=owner, logical_id=former)
    title = f"give what disk/{index} of instance {owner} was made of its name back"
    return BlockdevRename(disk=replace(spec, logical_id=former), owner=owner, logical_id=present), on_node(
        title, node, back
    )


def removal(target: InstanceView, node: Node, index: int) -> Undo:
    """What removes a disk from one of its nodes."""
    owner, spec = target.instance.name, target.disk_specs(node)[index]
    return on_node(f"remove disk/{index} of instance {owner}", node, BlockdevRemove(disk=spec, owner=owner))
