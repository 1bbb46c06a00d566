"""Who has a disk of this node open, so that it must be asked for what else a program would do with the disk's file."""

from collections.abc import Sequence
from typing import Protocol

from attrs import define


class DiskHolder(Protocol):
    """What holds the files of disks for itself: machines that run (`node.hypervisor`: IDiskHolder), or nobody else.

    Disks are known by the path by which they are attached.
    """

    def holds(self, path: str) -> bool:
        """Whether it has this disk."""

    async def resize_disk(self, path: str, size: int) -> None:
        """Let a disk have so many bytes."""

    async def snapshot_disk(self, path: str, name: str) -> None:
        """Keep the present state of a disk in its file under a name."""

    async def drop_snapshot(self, path: str, name: str) -> None:
        """Forget it."""


@define
class DiskHolders:
    """Those of this node; the composition root tells them when it has made them."""

    known: Sequence[DiskHolder] = ()

    def of(self, path: str) -> DiskHolder | None:
        """The one that has a disk open."""
        return next((each for each in self.known if each.holds(path)), None)
