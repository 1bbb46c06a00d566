"""Making the disks that were planned: their names and ids first, then they themselves on their node."""

from collections.abc import Sequence

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.on_nodes import homes
from ganeti_tx.logic.disks.plan import DiskPlan
from ganeti_tx.logic.rollback import Rollback
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
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


async def create_disks(nodes: INodeRpc, target: InstanceView, rollback: Rollback) -> None:
    """Create every disk on each of its nodes; each is removed again if something fails later. @raise OpExecError."""
    for index, disk in enumerate(target.disks):
        for node in homes(target, disk):
            await create_disk(nodes, target, node, target.disk_specs(node)[index], rollback)


async def create_disk(nodes: INodeRpc, target: InstanceView, node: Node, spec: DiskSpec, rollback: Rollback) -> None:
    """One disk on one node, where it is removed again if something fails later. @raise OpExecError: it is not there."""
    owner = target.instance.name
    removal = BlockdevRemove(disk=without_secret(spec), owner=owner)
    try:
        await nodes.call(node, BlockdevCreate(disk=spec, owner=owner, on_primary=node is target.primary))
    except RpcError as error:
        if isinstance(error, NodeUnreachableError):  # it may have been created all the same
            rollback.undo(nodes.call, node, removal)
        raise OpExecError(f"could not create disk/{spec.index} of instance {owner}: {error}") from None
    rollback.undo(nodes.call, node, removal)
