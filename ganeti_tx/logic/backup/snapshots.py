"""Snapshots of an instance's disks, for as long as they are read."""

from collections.abc import Mapping, Sequence

from attrs import frozen

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.backup.stillness import Stillness
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import ask
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.snapshots import snapshot_of
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevRemove
from ganeti_tx.rpc.calls.mirror import BlockdevSnapshot, BlockdevSnapshotFaults
from ganeti_tx.rpc.interfaces import RpcError

SNAPSHOT = "make snapshots of its disks"
CANNOT = (
    "Not all disks could be snapshotted, and you did not allow the instance to remain offline for a longer time"
    " through the --long-sleep option; aborting"
)


@frozen
class Snapshots:
    """One of each disk, on the primary node. @ivar name: what they have behind the names of the disks."""

    parts: Parts
    target: InstanceView
    name: str
    devices: Mapping[int, DiskSpec]

    @classmethod
    async def planned(cls, parts: Parts, target: InstanceView) -> "Snapshots":
        """With names that nothing else has. @raise OpPrereqError: of a disk there can be none."""
        name = f"export-{(await parts.config.generate_uuid())[:8]}"
        devices = {}
        for index, disk in enumerate(target.disk_specs()):
            device = snapshot_of(disk, name, await parts.config.generate_uuid())
            if device is None:
                raise OpPrereqError(f"{CANNOT} (disk/{index} is of template {disk.dev_type})", ECode.STATE)
            devices[index] = device
        await check_each(parts, target)
        return cls(parts, target, name, devices)

    async def make(self, *, runs: bool) -> None:
        """A guest that `runs` stands still meanwhile, if it can. @raise OpExecError: one could not be made."""
        if not runs:
            async with self.parts.step(SNAPSHOT, *self._undos()):
                await self._make_each()
            return
        stillness = Stillness(self.parts, self.target)
        async with self.parts.step(SNAPSHOT, *self._undos(), *stillness.undos()), stillness.held():
            await self._make_each()

    async def _make_each(self) -> None:
        for index, disk in enumerate(self.target.disk_specs()):
            self.parts.info(f"Creating a snapshot of disk/{index} on node {self.target.primary.name}")
            call = BlockdevSnapshot(disk=disk, snap_name=self.name, snap_size=disk.size)
            try:
                await self.parts.nodes.call(self.target.primary, call)
            except RpcError as error:
                raise OpExecError(f"{CANNOT}: disk/{index}: {error}") from None

    def _undos(self) -> Sequence[Undo]:
        name, node = self.target.instance.name, self.target.primary
        return [
            on_node(f"remove the snapshot of disk/{index} of instance {name}", node, self._removal(device))
            for index, device in self.devices.items()
        ]

    def _removal(self, device: DiskSpec) -> BlockdevRemove:
        return BlockdevRemove(disk=device, owner=self.target.instance.name)

    async def drop(self) -> None:
        """@raise OpExecError: one is still there."""
        for index, device in self.devices.items():
            self.parts.info(f"Removing snapshot of disk/{index} on node {self.target.primary.name}")
            try:
                await self.parts.nodes.call(self.target.primary, self._removal(device))
            except RpcError as error:
                raise OpExecError(f"could not remove the snapshot of disk/{index}: {error}") from None


async def check_each(parts: Parts, target: InstanceView) -> None:
    """@raise OpPrereqError: some of its disks could have a snapshot, and this one cannot."""
    unsure = [
        (index, spec)
        for index, (disk, spec) in enumerate(zip(target.disks, target.disk_specs(), strict=True))
        if disk.template.may_snapshot
    ]
    if not unsure:
        return
    call = BlockdevSnapshotFaults(disks=[spec for _, spec in unsure])
    faults = await ask(parts.nodes, target.primary, call, ECode.STATE)
    for (index, _), fault in zip(unsure, faults, strict=True):
        if fault:
            raise OpPrereqError(f"{CANNOT} (disk/{index}: {fault})", ECode.STATE)
