"""A split brain's end: the secondary node gives up what only it has, and is filled from the primary one."""

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.apart import split_disks
from ganeti_tx.logic.parts import Parts
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.rpc.calls.mirror import DrbdAttachNet
from ganeti_tx.rpc.interfaces import RpcError

#: Seconds between two looks, and looks until the two sides have found each other.
INTERVAL = 1.0
MAX_LOOKS = 30


async def yield_to_primary(parts: Parts, target: InstanceView, index: int) -> None:
    """Nothing, unless both sides of a disk have changes that the other has not. @raise OpExecError: they do not come together."""
    if index not in await split_disks(parts.nodes, target):
        return
    name, (secondary,) = f"disk/{index} of instance {target.instance.name}", target.secondaries
    parts.info(f"* giving up what only node {secondary.name} has of {name}")
    here, there = (target.disk_specs(node)[index] for node in (target.primary, secondary))
    try:
        await parts.nodes.call(secondary, DrbdAttachNet(disks=[there], multimaster=False, discard=True))
        for _ in range(MAX_LOOKS):
            await parts.nodes.call(target.primary, DrbdAttachNet(disks=[here], multimaster=False))
            await parts.pause(INTERVAL)
            if index not in await split_disks(parts.nodes, target):
                return
    except RpcError as error:
        raise OpExecError(f"could not end the split brain of {name}: {error}") from None
    raise OpExecError(f"could not end the split brain of {name}: its two nodes do not find each other")
