"""Calls about disks."""

from typing import Any, ClassVar

import msgspec

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.rpc.calls.base import NodeCall


class DiskState(msgspec.Struct, frozen=True):
    """A disk that is there (Ganeti's BlockDevStatus); `size` is MiB."""

    dev_path: str
    size: int
    major: int | None = None
    minor: int | None = None
    sync_percent: float | None = None
    estimated_time: float | None = None
    is_degraded: bool = False
    ldisk_status: int = 0


class BlockdevCreate(NodeCall[None], frozen=True, kw_only=True):
    """Create a disk."""

    name: ClassVar[str] = "blockdev_create"
    disk: DiskSpec
    owner: str
    on_primary: bool = True


class BlockdevRemove(NodeCall[None], frozen=True, kw_only=True):
    """Remove a disk."""

    name: ClassVar[str] = "blockdev_remove"
    disk: DiskSpec


class BlockdevGrow(NodeCall[None], frozen=True, kw_only=True):
    """Grow a disk by `amount` MiB, or check that it could."""

    name: ClassVar[str] = "blockdev_grow"
    disk: DiskSpec
    amount: int
    dry_run: bool = False


class BlockdevRename(NodeCall[None], frozen=True, kw_only=True):
    """Give a disk another logical id."""

    name: ClassVar[str] = "blockdev_rename"
    disk: DiskSpec
    logical_id: list[Any]


class BlockdevAssemble(NodeCall[str], frozen=True, kw_only=True):
    """Make a disk ready; answers its path."""

    name: ClassVar[str] = "blockdev_assemble"
    disk: DiskSpec
    owner: str
    on_primary: bool = True


class BlockdevShutdown(NodeCall[None], frozen=True, kw_only=True):
    """Undo `blockdev_assemble`."""

    name: ClassVar[str] = "blockdev_shutdown"
    disk: DiskSpec
    owner: str


class BlockdevFind(NodeCall[DiskState | None], frozen=True, kw_only=True):
    """A disk's state, or nothing."""

    name: ClassVar[str] = "blockdev_find"
    disk: DiskSpec
