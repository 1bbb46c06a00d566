"""Wiping new disks, or what is new of them, where the cluster is set so (reference: storage-rules.json, wipe)."""

from collections.abc import Sequence

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.disks.on_nodes import homes, shutdown_disks, shutdowns
from ganeti_tx.logic.disks.ready import make_ready
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model import sizes
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_formats import format_of
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.disk_template import RAW, Adoption, Mirrored
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevWipe
from ganeti_tx.rpc.calls.mirror import BlockdevPauseResumeSync
from ganeti_tx.rpc.interfaces import RpcError

#: The titles of steps.
WIPE_NEW, WIPE_OLD = "wipe the new disks", "wipe its disks"
#: A piece is at most so many MiB, and so much of the disk, in percent.
LONGEST, SHARE = 1024, 10


def is_wiped(cluster: Cluster, disk: Disk) -> bool:
    """Whether a disk is to be wiped before anybody has it.

    What was there before it was adopted is not, and in a new image, or what is new of one, nobody finds anything but zeros.
    """
    fresh = disk.template.adoption is not Adoption.ALWAYS and format_of(disk.template, disk.params) == RAW
    return cluster.prealloc_wipe_disks and fresh


def to_wipe(target: InstanceView) -> list[int]:
    """The indices of those disks of an instance."""
    return [index for index, disk in enumerate(target.disks) if is_wiped(target.cluster, disk)]


def wiping(target: InstanceView, indices: Sequence[int], title: str = WIPE_NEW) -> list[PlannedStep]:
    """The step that wipes these disks; none, if there are none."""
    names = ", ".join(f"disk/{index}" for index in indices)
    nodes = dict.fromkeys(node.name for index in indices for node in homes(target, target.disks[index]))
    return [PlannedStep(title, tuple(nodes), (f"{names} of instance {target.instance.name}",))] if indices else []


async def wipe_whole(parts: Parts, target: InstanceView, indices: Sequence[int], title: str = WIPE_NEW) -> None:
    """Wipe disks that nobody uses, and that are ready only for that. @raise OpExecError: one is not wiped."""
    if not indices:
        return
    async with parts.step(title, *shutdowns(target, indices), *resumptions(target, indices)):
        if await make_ready(parts.nodes, target, parts.warn, only=indices) is None:
            raise OpExecError(f"could not make the disks of instance {target.instance.name} ready to wipe them")
        for index in indices:
            await wipe(parts, target, index, 0, target.disks[index].size)
        if not await shutdown_disks(parts.nodes, target, parts.warn, indices):
            raise OpExecError(f"the disks of instance {target.instance.name} stay ready after they were wiped")


async def wipe(parts: Parts, target: InstanceView, index: int, offset: int, size: int) -> None:
    """Fill a disk, which is ready, with zeros from `offset` to `size` (MiB); a mirror is not filled meanwhile.

    @raise OpExecError: it is not wiped. Who calls it has written down `resumption`.
    """
    spec = target.disk_specs()[index]
    name = f"disk/{index} of instance {target.instance.name}"
    paused = pausing(target, index, True)
    try:
        if paused is not None:
            await parts.nodes.call(target.primary, paused)
        for start, length in pieces(offset, size):
            await parts.nodes.call(target.primary, BlockdevWipe(disk=spec, offset=start, size=length))
            if tenths(start + length, size) > tenths(start, size):
                parts.info(f"* Wiped {sizes.shown(start + length)} of {sizes.shown(size)} of {name}")
        if paused is not None:
            await parts.nodes.call(target.primary, pausing(target, index, False) or paused)
    except RpcError as error:
        raise OpExecError(f"could not wipe {name}: {error}") from None


def tenths(done: int, size: int) -> int:
    """How many tenths of a disk are done, so that a large one is not told of a thousand times."""
    return done * 10 // size


def pieces(offset: int, size: int) -> list[tuple[int, int]]:
    """Where each begins, and how long it is."""
    step = max(1, min(LONGEST, size * SHARE // 100))
    return [(start, min(step, size - start)) for start in range(offset, size, step)]


def resumptions(target: InstanceView, indices: Sequence[int]) -> list[Undo]:
    """What lets mirrors be filled that were held up for wiping."""
    calls = [(index, pausing(target, index, False)) for index in indices]
    owner = target.instance.name
    return [
        on_node(f"let disk/{index} of instance {owner} be filled", target.primary, call)
        for index, call in calls
        if call is not None
    ]


def pausing(target: InstanceView, index: int, pause: bool) -> BlockdevPauseResumeSync | None:
    """What holds the filling of a disk up, or lets it go on; nothing for one that is not mirrored between nodes."""
    if target.disks[index].template.mirrored is not Mirrored.INTERNALLY:
        return None
    spec: DiskSpec = without_secret(target.disk_specs()[index])
    return BlockdevPauseResumeSync(disks=[spec], pause=pause)
