"""Volumes in memory, with all that a kind of storage can do besides holding disks."""

from collections.abc import Sequence

from attrs import define, field
from msgspec.structs import replace
from zope.interface import implementer

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.abilities import (
    ExistingDevice,
    IExisting,
    IOwnerMark,
    ISpindles,
    IUserspaceUri,
)
from ganeti_tx.node.storage.interfaces import Below, IStorage
from ganeti_tx.test.fakes.storage import FakeStorage


@implementer(IStorage, IOwnerMark, IExisting, ISpindles, IUserspaceUri)
@define
class FakeVolumes(FakeStorage):
    """Logical ids are [group, volume]; one that lies upon a file has its room there. `hidden`: they have no paths.

    Groups are there but for those that are `lost`. The room is that of some `physical` volumes, all of one size.
    """

    template: str = "plain"
    hidden: bool = False
    lost: set[str] = field(factory=set)
    physical: int = 1

    async def create(self, disk: DiskSpec, below: Below = ()) -> None:
        """See `IStorage`; an exclusive disk has as few physical volumes as will do, or as many as it says."""
        upon = self._spindles(disk, disk.size, disk.spindles) if disk.exclusive else 1
        await super().create(disk, below)
        self.get(disk).upon = upon

    async def grow(self, disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """See `IStorage`."""
        found = self.get(disk)
        upon = max(found.upon, self._spindles(disk, found.size + amount, None)) if disk.exclusive else found.upon
        await super().grow(disk, amount, dry_run)
        if not dry_run:
            found.upon = upon

    def _spindles(self, disk: DiskSpec, size: int, wanted: int | None) -> int:
        """How many it needs for itself. @raise BlockDeviceError: so many are not empty, or too few are wanted."""
        needed = -(-size // int(self.total / self.physical * 0.98))
        own = self.disks[self._key(disk.logical_id)].upon if self._key(disk.logical_id) in self.disks else 0
        if not needed <= (wanted or needed) <= self.empty + own:
            raise BlockDeviceError(
                f"{size} MiB cannot have {wanted or needed} physical volumes: {self.empty} are empty"
            )
        return wanted or needed

    @property
    def empty(self) -> int:
        """How many physical volumes no disk lies on."""
        return max(0, self.physical - sum(disk.upon for disk in self.disks.values() if not disk.under))

    async def spindles(self, disk: DiskSpec) -> int:
        """See `ISpindles`."""
        return self.get(disk).upon

    async def snapshot_fault(self, disk: DiskSpec) -> str | None:
        """See `IMaySnapshot`."""
        return None

    async def set_owner(self, disk: DiskSpec, owner: str) -> None:
        """See `IOwnerMark`."""
        self._begin("set_owner", disk)
        self.get(disk).owner = f"originstname+{owner}"

    async def existing(self, place: str) -> Sequence[ExistingDevice]:
        """See `IExisting`."""
        if place in self.lost:
            raise BlockDeviceError(f"volume group {place!r} is not on this node")
        return [
            ExistingDevice(key.split("/"), disk.size, bool(self.devices.users.get(f"/dev/{key}")))
            for key, disk in sorted(self.disks.items())
            if key.startswith(f"{place}/")
        ]

    async def uri(self, disk: DiskSpec, hypervisor: str) -> str | None:
        """See `IUserspaceUri`."""
        if hypervisor != "kvm" or disk.params.get("access") != "userspace":
            return None
        return f"fake:{self._key(disk.logical_id)}"

    def _status(self, disk: DiskSpec) -> BlockDevStatus:
        found = super()._status(disk)
        return replace(found, dev_path="") if self.hidden else found
