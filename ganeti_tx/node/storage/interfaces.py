"""The seam between the node daemon and the places where disks live."""

from collections.abc import Mapping
from typing import Any

import attrs
from zope.interface import Attribute, Interface

from ganeti_tx.model.instance_spec import DiskSpec


@attrs.frozen
class DeviceStatus:
    """What is known of a disk that is there; the names are those of Ganeti's BlockDevStatus, `size` is MiB."""

    dev_path: str
    size: int
    major: int | None = None
    minor: int | None = None
    sync_percent: float | None = None
    estimated_time: float | None = None
    is_degraded: bool = False
    ldisk_status: int = 0


class IStorage(Interface):
    """One disk template on one node. A disk is known by its DiskSpec; every method is a coroutine.

    All raise BlockDeviceError (FileStoragePathError for a path that is not allowed) with one line that names the disk.
    """

    template: str = Attribute("The disk template, such as 'file'.")

    async def create(disk: DiskSpec) -> None:
        """Make the disk with its size, zeroed as the template does; one that exists is an error and stays untouched.

        When it fails nothing of the disk is left.
        """

    async def remove(disk: DiskSpec) -> None:
        """Delete the disk; deleting what is not there succeeds."""

    async def grow(disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """Add `amount` MiB to the disk's present size; with `dry_run` only check that it could."""

    async def size(disk: DiskSpec) -> int:
        """The present size in MiB, measured."""

    async def rename(disk: DiskSpec, logical_id: list[Any]) -> None:
        """Give the disk another logical id; the new one must not exist."""

    async def assemble(disk: DiskSpec, primary: bool = True) -> DeviceStatus:
        """Make the disk ready for a guest on this node; doing it twice is no error."""

    async def shutdown(disk: DiskSpec) -> None:
        """Undo `assemble`; doing it twice is no error. The data stays."""

    async def find(disk: DiskSpec) -> DeviceStatus | None:
        """The disk's state, or None when it is not there."""


class ISpace(Interface):
    """A template that knows how much room it has."""

    async def space(name: str, params: Mapping[str, Any]) -> Mapping[str, int]:
        """`storage_size` and `storage_free` in MiB of one pool (a directory, a volume group)."""
