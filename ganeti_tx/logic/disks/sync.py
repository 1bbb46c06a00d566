"""Waiting until the copies of mirrored disks are alike."""

from collections.abc import Awaitable, Callable, Sequence

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.apart import what_mends
from ganeti_tx.logic.disks.on_nodes import Warn, assemble_elsewhere
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.rpc.calls.disk import BlockdevAssemble
from ganeti_tx.rpc.calls.mirror import BlockdevGetmirrorstatus
from ganeti_tx.rpc.interfaces import INodeRpc, RpcError

#: Seconds between two looks, and at most so many if the nodes say that it will take longer.
INTERVAL, LONGEST_INTERVAL = 6.0, 60.0
#: After so many looks in a row without an answer, or without a synchronisation that would mend what is degraded, it is over.
MAX_VAIN = 10

Told = Callable[[str], None]


async def assemble_everywhere(nodes: INodeRpc, target: InstanceView, warn: Warn) -> None:
    """Make the disks ready on all their nodes, on the primary one last. @raise OpExecError: one cannot be."""
    await assemble_elsewhere(nodes, target, warn)
    instance = target.instance
    for spec in target.disk_specs():
        call = BlockdevAssemble(disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value)
        try:
            await nodes.call(target.primary, call)
        except RpcError as error:
            raise OpExecError(f"could not make disk/{spec.index} of instance {instance.name} ready: {error}") from None


async def wait_for_sync(
    nodes: INodeRpc,
    target: InstanceView,
    tell: Told,
    pause: Callable[[float], Awaitable[None]],
    only: Sequence[int] | None = None,
    stays: bool = False,
) -> None:
    """Wait until all disks, which are ready, are alike on their nodes, and tell how far they are.

    @param only: the indices of the disks that are meant, if not all are.
    @param stays: whether the disks stay as they are when they do not become alike, so that it is told what mends them.
    @raise OpExecError: the primary node does not tell, or a disk stays degraded while nothing is under way.
    """
    name, vain = target.instance.name, 0
    indices = range(len(target.disks)) if only is None else only
    tell(waiting(name))
    while True:
        states, fault = await look(nodes, target, indices)
        left = [state for state in states if state.sync_percent is not None]
        if fault is None and not left and not any(state.is_degraded for state in states):
            tell(in_sync(name))
            return
        vain = 0 if left else vain + 1
        if vain == MAX_VAIN:
            degraded = [each for each in zip(indices, states, strict=False) if each[1].is_degraded]
            mended = [what_mends(target, index, state) for index, state in degraded if stays]
            raise OpExecError(fault or _sentence(name, mended))
        for index, state in zip(indices, states, strict=False):
            if state.sync_percent is not None:
                tell(f"- INFO: - device disk/{index}: {state.sync_percent:5.2f}% done, {remaining(state)}")
        await pause(interval(left))


def waiting(name: str) -> str:
    """What is told before the first look at an instance's disks."""
    return f"- INFO: Waiting for instance {name} to sync disks"


def in_sync(name: str) -> str:
    """What is told after the last one."""
    return f"- INFO: Instance {name}'s disks are in sync"


def tell_in_sync(name: str, tell: Told) -> None:
    """What Ganeti tells of disks, too, that have no copies, for which nobody need be asked."""
    tell(waiting(name))
    tell(in_sync(name))


def _sentence(name: str, mended: Sequence[str]) -> str:
    """Of an instance's disks that stay as they are."""
    return f"there are some degraded disks for instance {name}" + (f": {'; '.join(mended)}" if mended else "")


async def look(
    nodes: INodeRpc, target: InstanceView, indices: Sequence[int]
) -> tuple[Sequence[BlockDevStatus], str | None]:
    """The states of disks on the primary node, or why it does not tell."""
    specs = [without_secret(spec) for spec in target.disk_specs() if spec.index in indices]
    try:
        return await nodes.call(target.primary, BlockdevGetmirrorstatus(disks=specs)), None
    except RpcError as error:
        return (), f"cannot tell whether the disks of instance {target.instance.name} are in sync: {error}"


def interval(left: Sequence[BlockDevStatus]) -> float:
    """Seconds until the next look: until it should be done, within limits."""
    longest = max((state.estimated_time or INTERVAL for state in left), default=INTERVAL)
    return min(max(longest, INTERVAL), LONGEST_INTERVAL)


def remaining(state: BlockDevStatus) -> str:
    """How long it will take."""
    if state.estimated_time is None:
        return "no time estimate"
    minutes, seconds = divmod(round(state.estimated_time), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ([f"{hours}h"] if hours else []) + ([f"{minutes}m"] if hours or minutes else []) + [f"{seconds}s"]
    return f"{' '.join(parts)} remaining (estimated)"
