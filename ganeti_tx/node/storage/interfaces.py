"""The seam between the node daemon and the places where disks live: what every kind of storage can do.

What only some can do stands in `abilities.py`. Devices made of others are put together by `tree.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from zope.interface import Attribute, Interface

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus

#: The devices that one is made of, in order and ready; a mirror that has to do without its own part gets none.
Below = Sequence[BlockDevStatus]


class IStorage(Interface):
    """One disk template on one node. A disk is known by its DiskSpec; every method is a coroutine.

    A method does its one device only: those that the disk is made of come as `below` and are never touched.
    All raise BlockDeviceError (FileStoragePathError for a path that is not allowed) with one line that names the disk.
    """

    template: str = Attribute("The disk template, such as 'file'.")

    async def create(disk: DiskSpec, below: Below = ()) -> None:
        """Make the disk with its size, zeroed as the template does; one that exists is an error and stays untouched.

        It need not be ready after that. When it fails nothing of the disk is left.
        """

    async def remove(disk: DiskSpec) -> None:
        """Delete the disk, which is not ready; deleting what is not there succeeds."""

    async def grow(disk: DiskSpec, amount: int, dry_run: bool = False) -> None:
        """Add `amount` MiB to the disk's present size; with `dry_run` only check that it could.

        What it is made of has grown before.
        """

    async def rename(disk: DiskSpec, logical_id: list[Any]) -> None:
        """Give the disk another logical id; the new one must not exist."""

    async def assemble(disk: DiskSpec, primary: bool = True, below: Below = ()) -> BlockDevStatus:
        """Make the disk ready on this node, for a guest if it is the `primary` one; doing it twice is no error.

        When it fails the disk is as it was before.
        """

    async def shutdown(disk: DiskSpec) -> None:
        """Undo `assemble`; doing it twice is no error. The data stays. @raise BlockDeviceError: it is in use, and stays."""

    async def is_ready(disk: DiskSpec) -> bool:
        """Whether the disk is assembled on this node; False when it is not there."""

    async def find(disk: DiskSpec, below: Sequence[BlockDevStatus | None] = ()) -> BlockDevStatus | None:
        """The disk's own state, ready or not, or None when it is not there. @param below: what was found of its parts."""


@frozen(kw_only=True)
class PoolSpace:
    """How much a pool can hold and how much more it can take, in MiB."""

    size: int
    free: int


class IPools(Interface):
    """The pools of one storage type on one node: directories, volume groups. Every method is a coroutine."""

    async def space(name: str, params: Mapping[str, Any]) -> PoolSpace:
        """The room in a pool that there is, or that the first disk will make. @raise BlockDeviceError: it cannot be told."""

    async def fault(name: str) -> str | None:
        """Why no disks can be kept in a pool, in one line; None when they can."""
