"""Making the disks that were planned: their names and ids first, then they themselves on their node."""

from collections.abc import Sequence

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
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevCreate, BlockdevRemove
from ganeti_tx.rpc.interfaces import INodeRpc, NodeUnreachableError, RpcError


async def make_disks(config: IConfig, plans: Sequence[DiskPlan], node_uuid: str) -> tuple[Disk, ...]:
    """The disks, each with a uuid, and a name on its node that nothing else has."""
    return tuple([make_disk(plan, index, await config.generate_uuid(), node_uuid) for index, plan in enumerate(plans)])


def make_disk(plan: DiskPlan, index: int, uuid: str, node_uuid: str) -> Disk:
    """One disk."""
    template = TEMPLATES[plan.template]
    assert template.locate is not None, plan.template
    return Disk(
        serial_no=1,
        uuid=uuid,
        dev_type=plan.template,
        logical_id=template.locate(plan.place, template.name.format(uuid=uuid, index=index)),
        size=plan.size,
        iv_name=f"disk/{index}",
        mode=plan.mode,
        nodes=() if template.shared else (node_uuid,),
        name=plan.name,
        spindles=plan.spindles,
    )


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
                    if not isinstance(error, NodeUnreachableError):  # else it may have been created all the same
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
    call = BlockdevCreate(disk=spec, owner=target.instance.name, on_primary=node is target.primary)
    await nodes.call(node, call)
