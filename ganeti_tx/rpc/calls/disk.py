"""Calls about disks."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import msgspec

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.rpc.calls.base import SLOW, URGENT, NodeCall, Question, R


def disk_tree(disk: DiskSpec) -> Iterator[str]:
    """A disk, and those that it is made of, among all that calls have for themselves."""
    if disk.uuid:
        yield f"disk {disk.uuid}"
    for child in disk.children:
        yield from disk_tree(child)


class DiskCall(NodeCall[R], frozen=True, kw_only=True):
    """A call that changes a disk, which it has for itself, with those that it is made of."""

    disk: DiskSpec

    def reserves(self) -> Iterable[str]:
        """The disks."""
        return disk_tree(self.disk)


class DisksCall(NodeCall[R], frozen=True, kw_only=True):
    """A call that changes several disks."""

    disks: list[DiskSpec]

    def reserves(self) -> Iterable[str]:
        """All of them."""
        return (name for disk in self.disks for name in disk_tree(disk))


class BlockdevCreate(DiskCall[None], frozen=True, kw_only=True):
    """Create a disk, and first those that it is made of; with `on_children` these are there already."""

    name: ClassVar[str] = "blockdev_create"
    owner: str
    on_children: bool = False


class BlockdevRemove(DiskCall[None], frozen=True, kw_only=True):
    """Remove a disk with those that it is made of, and its stable name; what is not there is no error."""

    name: ClassVar[str] = "blockdev_remove"
    owner: str


class BlockdevGrow(DiskCall[None], frozen=True, kw_only=True):
    """Grow a disk by `amount` MiB, or check that it could.

    With `backing_store` what holds the data grows: the volumes below a mirror, and a disk that is not made of others;
    without it the device above does, once its volumes have grown on all nodes, and there may be nothing to do.
    """

    name: ClassVar[str] = "blockdev_grow"
    amount: int
    dry_run: bool = False
    backing_store: bool = True


class BlockdevWipe(DiskCall[None], frozen=True, kw_only=True):
    """Fill a part of a disk that is ready with zeros: `size` MiB from `offset` MiB on."""

    name: ClassVar[str] = "blockdev_wipe"
    timeout: ClassVar[float] = SLOW
    offset: int
    size: int


class BlockdevGrown(DiskCall[bool], frozen=True, kw_only=True):
    """Tell the machine that runs here under `owner`'s name that its disk has the size `disk.size` now.

    Answers whether it was told: where none runs, or the hypervisor cannot, nothing is done.
    """

    name: ClassVar[str] = "blockdev_grown"
    owner: str
    hypervisor: str


class BlockdevRename(DiskCall[None], frozen=True, kw_only=True):
    """Give a disk, without those that it is made of, another logical id; its stable name goes on leading to it."""

    name: ClassVar[str] = "blockdev_rename"
    owner: str
    logical_id: list[Any]


class AssembledDisk(msgspec.Struct, frozen=True):
    """A disk that is ready: its path, its stable name on the primary node, and what a machine there opens instead of the path.

    The path is empty if there is nothing but the last.
    """

    path: str
    link: str | None = None
    uri: str | None = None


class BlockdevAssemble(DiskCall[AssembledDisk], frozen=True, kw_only=True):
    """Make a disk ready, and before it those that it is made of."""

    name: ClassVar[str] = "blockdev_assemble"
    needs_secrets: ClassVar[bool] = True
    owner: str
    hypervisor: str
    on_primary: bool = True


class BlockdevShutdown(DiskCall[None], frozen=True, kw_only=True):
    """Undo `blockdev_assemble`."""

    name: ClassVar[str] = "blockdev_shutdown"
    owner: str


class BlockdevFind(Question[BlockDevStatus | None], frozen=True, kw_only=True):
    """A disk's state, or nothing."""

    name: ClassVar[str] = "blockdev_find"
    disk: DiskSpec


class FoundDevice(msgspec.Struct, frozen=True):
    """A device that is there, whoever made it. `size` is MiB; `in_use`: something has it open.

    `device` is the same for all names of one that may have several.
    """

    logical_id: list[Any]
    size: int
    in_use: bool
    device: str = ""


class BdevSizes(Question[list[FoundDevice]], frozen=True, kw_only=True):
    """Which of these devices, by logical id, are in a place of a template's storage, such as a volume group?"""

    name: ClassVar[str] = "bdev_sizes"
    timeout: ClassVar[float] = URGENT
    template: str
    place: str
    wanted: list[list[Any]]


class DiskState(msgspec.Struct, frozen=True):
    """What was found of a disk: its state, nothing, or `fault`: why that cannot be told.

    `spindles`: how many physical volumes it has for itself, if it has them for itself.
    """

    status: BlockDevStatus | None = None
    fault: str = ""
    spindles: int | None = None


class BlockdevStates(Question[list[DiskState]], frozen=True, kw_only=True):
    """How are these disks? One answer for each."""

    name: ClassVar[str] = "blockdev_getmirrorstatus_multi"
    disks: list[DiskSpec]
