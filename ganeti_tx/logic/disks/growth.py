"""Growing a disk on its nodes: what holds the data on all of them first, then the device above that.

Each part grows to the size that is wanted from the size that it has, whatever is recorded: what has grown before, when others
could not, is left alone.
"""

from collections.abc import Sequence

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.on_nodes import homes
from ganeti_tx.logic.disks.room import data_parts
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.disk import BlockdevGrow, BlockdevStates
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError


async def grow_on_nodes(nodes: INodeRpc, target: InstanceView, index: int, size: int) -> None:
    """Grow one disk, which is ready, to `size` MiB.

    @raise OpExecError: it is not so large everywhere; the same request goes on from there.
    """
    disk = target.disks[index]
    within = {part.uuid for part in data_parts(disk)}
    try:
        for dry_run in (True, False):
            for node in homes(target, disk):
                spec = target.disk_specs(node)[index]
                below = [part for part in (spec, *spec.children) if part.uuid in within]
                await grow_to(nodes, node, spec, below, size, dry_run, backing_store=True)
        if disk.children:
            spec = target.disk_specs()[index]
            await grow_to(nodes, target.primary, spec, [spec], size, False, backing_store=False)
    except RpcError as error:
        raise OpExecError(
            f"could not grow disk/{index} of instance {target.instance.name} everywhere ({error}); what has grown does"
            " no harm, and the same request goes on from there"
        ) from None


async def grow_to(
    nodes: INodeRpc,
    node: Node,
    spec: DiskSpec,
    measured: Sequence[DiskSpec],
    size: int,
    dry_run: bool,
    *,
    backing_store: bool,
) -> None:
    """Grow a half of a disk on one node by what its smallest part lacks. @raise RpcError: it cannot."""
    found = await nodes.call(node, BlockdevStates(disks=list(measured)))
    amount = max((size - each.status.size for each in found if each.status is not None), default=size)
    if any(each.status is None for each in found):
        faults = [each.fault or "it is not there" for each in found if each.status is None]
        raise RpcError(f"node {node.name}: {'; '.join(faults)}")
    if amount > 0:
        call = BlockdevGrow(disk=spec, amount=amount, dry_run=dry_run, backing_store=backing_store)
        await nodes.call(node, call)
