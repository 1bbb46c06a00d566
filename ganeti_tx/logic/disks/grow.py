"""Growing a disk, also of an instance that runs."""

from collections.abc import Sequence

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.disks.exclusive import with_spindles
from ganeti_tx.logic.disks.growth import grow_on_nodes
from ganeti_tx.logic.disks.on_nodes import homes, shutdown_disks, shutdowns
from ganeti_tx.logic.disks.ready import make_ready
from ganeti_tx.logic.disks.room import check_disk_room, data_parts
from ganeti_tx.logic.disks.sync import wait_for_sync
from ganeti_tx.logic.disks.wipe import is_wiped, resumptions, wipe
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.model import sizes
from ganeti_tx.model.disk import Disk
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_policy import policy_violations
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_disks import OpInstanceGrowDisk
from ganeti_tx.rpc.calls.disk import BlockdevGrown, BlockdevStates
from ganeti_tx.rpc.interfaces import RpcError

READY, GROW, WIPE = "make the disk ready", "grow the disk", "wipe what is new of the disk"
RECORD, TELL = "record its size", "tell the instance that runs"
SYNC, DOWN = "wait until the disk is in sync", "take the disk down"


class LUInstanceGrowDisk(InstanceUnit[OpInstanceGrowDisk]):
    """Grow one disk. What has grown stays so whatever fails later: it does no harm, and the same request goes on from there."""

    hook = Hook("disk-grow", HookObject.INSTANCE, asked={"DISK": "disk", "AMOUNT": "amount", "ABSOLUTE": "absolute"})

    _size: int

    @property
    def _disk(self) -> Disk:
        return self.target.disks[self.op.disk]

    @property
    def _homes(self) -> Sequence[Node]:
        return homes(self.target, self._disk)

    async def check(self) -> None:
        """There is such a disk, it can grow, its group admits that, and its nodes have the room."""
        await super().check()
        self._check_index()
        self._size = self._wanted()
        for node in self._homes:
            check_online(node, f"grow disk/{self.op.disk} of instance {self.instance.name}")
        self._check_policy()
        more = [(part, self._size - self._disk.size) for part in data_parts(self._disk)]
        if not is_exclusive(
            self.target.cluster, self.target.group
        ):  # else it grows where it lies, too; only the nodes know
            await check_disk_room(self.nodes, self.target.cluster, self._homes, more)

    def _check_index(self) -> None:
        count = len(self.target.disks)
        if self.op.disk >= count:
            raise OpPrereqError(
                f"Invalid disk index: {self.op.disk} (instance has disks 0 to {count - 1})", ECode.INVAL
            )
        if not self._disk.template.growable:
            raise OpPrereqError(
                f"disk/{self.op.disk} of instance {self.instance.name} cannot grow: disks of template"
                f" {self._disk.dev_type.value} have a fixed size",
                ECode.INVAL,
            )

    def _wanted(self) -> int:
        """The size that it is to have, in MiB."""
        if not self.op.absolute:
            return self._disk.size + self.op.amount
        if self.op.amount < self._disk.size:
            raise OpPrereqError(
                f"Requested size ({sizes.shown(self.op.amount)}) is smaller than current disk size"
                f" ({sizes.shown(self._disk.size)})",
                ECode.STATE,
            )
        return self.op.amount

    def _check_policy(self) -> None:
        before = policy_violations(self.target)
        grown = replace(self._disk, size=self._size)
        disks = tuple(grown if disk is self._disk else disk for disk in self.target.disks)
        new = [each for each in policy_violations(replace(self.target, disks=disks)) if each not in before]
        if not new:
            return
        fault = f"Growing disk {self.op.disk} violates policy: {', '.join(new)}"
        if not self.op.ignore_ipolicy:
            raise OpPrereqError(fault, ECode.INVAL)
        self.warn(f"{fault}; ignored, as asked for")

    def plan(self) -> Plan:
        """Ready, larger, wiped, recorded; and what there is to wait for."""
        nodes = tuple(node.name for node in self._homes)
        first, disk = (self.target.primary.name,), (f"disk/{self.op.disk} of instance {self.instance.name}",)
        up, wiped = self.instance.disks_active, is_wiped(self.target.cluster, self._disk)
        steps = [
            PlannedStep(READY, nodes, disk) if not up else None,
            PlannedStep(GROW, nodes, disk),
            PlannedStep(WIPE, first, disk) if wiped and self._size > self._disk.size else None,
            PlannedStep(RECORD, (), disk),
            PlannedStep(TELL, first, disk) if self.instance.admin_state is AdminState.UP else None,
            PlannedStep(SYNC, first, disk) if self.op.wait_for_sync else None,
            PlannedStep(DOWN, nodes, disk) if not up and self.op.wait_for_sync else None,
        ]
        return [step for step in steps if step is not None]

    async def execute(self) -> None:
        """A disk that was not ready is so only meanwhile."""
        self.info(
            f"Growing disk {self.op.disk} of instance '{self.instance.name}' by"
            f" {sizes.shown(self._size - self._disk.size)} to {sizes.shown(self._size)}"
        )
        titles, disk, only = {step.title for step in self.plan()}, self._disk, [self.op.disk]
        if READY in titles:
            async with self.step(READY, *shutdowns(self.target, only)):
                if await make_ready(self.nodes, self.target, self.warn, only=only) is None:
                    raise OpExecError("Cannot activate block device to grow")
        new_from = await self._new_from() if WIPE in titles else disk.size
        async with self.step(GROW):
            await grow_on_nodes(self.nodes, self.target, self.op.disk, self._size)
        if WIPE in titles:
            async with self.step(WIPE, *resumptions(self.target, only)):
                await wipe(self, self.target, self.op.disk, new_from, self._size)
        async with self.step(RECORD):
            await self.config.update_disk(await self._grown(grown(disk, self._size)))
        await self.read_again()
        if TELL in titles:
            async with self.step(TELL):
                await self._tell()
        await self._wait(only)

    async def _new_from(self) -> int:
        """From where on (MiB) the disk is new: a guest may have data in what was longer than recorded.

        What is as long as it is to be was left by a request that failed. @raise OpExecError: the primary node does not tell.
        """
        spec, name = self.target.disk_specs()[self.op.disk], f"disk/{self.op.disk} of instance {self.instance.name}"
        try:
            [state] = await self.nodes.call(self.target.primary, BlockdevStates(disks=[without_secret(spec)]))
        except RpcError as error:
            raise OpExecError(f"could not tell from where {name} is to be wiped: {error}") from None
        recorded, there = self._disk.size, state.status.size if state.status is not None else 0
        if not recorded < there < self._size:
            return recorded
        self.warn(
            f"{name} had {sizes.shown(there)}, and not {sizes.shown(recorded)} as recorded: it is wiped from there on only, as the"
            " instance may have data before that"
        )
        return there

    async def _grown(self, disk: Disk) -> Disk:
        """With the number of its physical volumes, if it has them for itself."""
        found = await with_spindles(self.nodes, self.target, [disk.uuid])
        return replace(disk, spindles=found[self.op.disk].spindles)

    async def _tell(self) -> None:
        instance = self.instance
        spec = self.target.disk_specs()[self.op.disk]
        call = BlockdevGrown(disk=spec, owner=instance.name, hypervisor=instance.hypervisor.value)
        try:
            await self.nodes.call(self.target.primary, call)
        except RpcError as error:
            self.warn(f"instance {instance.name} sees the new size of its disk only when it is started again: {error}")

    async def _wait(self, only: Sequence[int]) -> None:
        if not self.op.wait_for_sync:
            if not self.instance.disks_active:
                self.warn(
                    "Not shutting down the disk even if the instance is not supposed to be running because no wait for"
                    " sync mode was requested"
                )
            return
        async with self.step(SYNC):
            try:
                await wait_for_sync(self.nodes, self.target, self.info, self.pause, only, stays=True)
            except OpExecError as error:
                self.warn(f"Disk syncing has not returned a good status; please check the instance: {error}")
        if not self.instance.disks_active:
            async with self.step(DOWN):
                await shutdown_disks(self.nodes, self.target, self.warn, only)


def grown(disk: Disk, size: int) -> Disk:
    """A disk with another size, as those of its parts have that hold its data."""
    parts = data_parts(disk)
    children = tuple(replace(child, size=size) if child in parts else child for child in disk.children)
    return replace(disk, size=size, children=children)
