"""What only some storages can do: each ability is an interface that is asked for with `providedBy`.

All methods are coroutines unless they say otherwise, and raise as `IStorage` does.
"""

from collections.abc import Sequence
from typing import Any

from attrs import frozen
from zope.interface import Interface

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.status import BlockDevStatus
from ganeti_tx.node.storage.interfaces import Below
from ganeti_tx.node.storage.raw_view import RawView


class IMirror(Interface):
    """A disk with a copy on another node, which the two nodes' devices keep alike.

    `assemble` brings the device up on both nodes as secondary one, or as primary where it is told so, and lets it look for the
    other side; what `find` tells of it has the state of the synchronisation. It can do without its own part, with nothing
    `below`, as long as the other side has the data; when it is assembled again with something below it takes that.
    """

    def data_children(disk: DiskSpec) -> Sequence[DiskSpec]:
        """Those children that hold the data; the others hold the mirror's own notes. Not a coroutine."""

    async def become_primary(disk: DiskSpec, exclusive: bool = True) -> None:
        """Let the device be written to here; doing it twice is no error.

        @raise BlockDeviceError: the data here are not good, or with `exclusive` the other side is primary.
        """

    async def become_secondary(disk: DiskSpec) -> None:
        """Take that back; doing it twice is no error. @raise BlockDeviceError: a machine has it open."""

    async def disconnect(disk: DiskSpec) -> None:
        """Go on without the other side, and do not look for it; doing it twice is no error."""

    async def connect(disk: DiskSpec, both_primary: bool, discard: bool = False) -> None:
        """Look for the other side, which is where `disk.ends` says, though it was elsewhere before.

        With `both_primary` each may be primary while the other is there (for a migration). With `discard` what this side has,
        and the other has not, is given up as soon as they find each other.

        @raise BlockDeviceError: the device is not assembled, or it is primary and was to give up its data.
        """

    async def pause_sync(disk: DiskSpec, pause: bool) -> None:
        """Hold the synchronisation up, or let it go on."""

    async def attach_children(disk: DiskSpec, below: Below) -> None:
        """Give a device that has to do without its own part these for one; they are filled from the other side."""

    async def detach_children(disk: DiskSpec) -> None:
        """Go on without the device's own part, which is left as it is; doing it twice is no error.

        @raise BlockDeviceError: the other side has no good data, so this is the last copy.
        """


@frozen
class MirrorModule:
    """What keeps the mirrors of a node alike: its version, the program that it calls, the minors that are set up."""

    version: str
    helper: str
    minors: Sequence[int]


class ILook(Interface):
    """A storage that has to make a disk ready to see whether it is there."""

    async def find_unused(disk: DiskSpec) -> BlockDevStatus | None:
        """As `IStorage.find`, of a disk that no instance has: what was not ready before is not ready after."""


class IMirrorModule(Interface):
    """Mirrors that a module of the node's kernel makes."""

    async def module() -> MirrorModule:
        """@raise BlockDeviceError: it is not there, or none that this program can use; with its version."""

    async def all_down() -> Sequence[str]:
        """Take down every mirror of the node, whoever's it is; the data stay. Gives why one is still up, for each that is.

        Where the module is not loaded there is none. @raise BlockDeviceError: which there are cannot be read.
        """


class ISnapshot(Interface):
    """A disk of which the present state can be kept while it goes on being written to."""

    async def snapshot(disk: DiskSpec, name: str, size: int) -> list[Any]:
        """The logical id of a new disk of the same template with the present data, whose name has `name` in it.

        `size` is the room in MiB for what changes meanwhile, where the storage needs any.
        """


class IMaySnapshot(Interface):
    """A storage of which some disks can have snapshots and others cannot."""

    async def snapshot_fault(disk: DiskSpec) -> str | None:
        """Why this one cannot; None when it can."""


class IOwnerMark(Interface):
    """A disk that can carry a text by which an administrator sees whose it is."""

    async def set_owner(disk: DiskSpec, owner: str) -> None:
        """Mark the disk as the instance's. The text is "originstname+INSTANCE" (reference: storage-rules.json)."""


@frozen
class ExistingDevice:
    """A device that is there, whoever made it; `size` is MiB. `in_use`: something has it open.

    `device` is the same for all names of one that may have several.
    """

    logical_id: list[Any]
    size: int
    in_use: bool
    device: str = ""


class IExisting(Interface):
    """A storage that tells which devices are there: those that can be adopted, and those that nobody owns."""

    async def existing(place: str) -> Sequence[ExistingDevice]:
        """All in one place, such as a volume group or a directory. @raise BlockDeviceError: there is no such place."""


class ISpindles(Interface):
    """A disk that can have physical volumes for itself."""

    async def spindles(disk: DiskSpec) -> int:
        """How many a disk lies upon that is there."""


class IOpening(Interface):
    """A disk whose storage is told on which nodes it may be written to; `assemble` on the primary node tells it, too."""

    async def open(disk: DiskSpec, exclusive: bool) -> None:
        """An instance may write to the disk, which is assembled; with `exclusive` no other node's may."""

    async def close(disk: DiskSpec) -> None:
        """Take that back; doing it twice is no error."""


class IUserspaceUri(Interface):
    """A disk that a hypervisor can open itself, by a URI, past the kernel of the node."""

    async def uri(disk: DiskSpec, hypervisor: str) -> str | None:
        """The URI of an assembled disk; None when this hypervisor, or these parameters of the disk, mean its path."""


class IRawView(Interface):
    """A disk whose bytes do not lie in its file as a guest sees them; programs read and write them by `raw_view.py`."""

    def view(disk: DiskSpec, writable: bool) -> RawView | None:
        """How programs see those of a disk that is ready, and that nothing else has open if it is to be written to; None
        when they lie there as they are. Not a coroutine.
        """


class IStream(Interface):
    """A disk whose bytes are read and written by commands of its own; those of others by `streams.py`. No coroutines."""

    def read_command(disk: DiskSpec) -> Sequence[str]:
        """What prints the bytes of a disk that is ready."""

    def write_command(disk: DiskSpec) -> Sequence[str]:
        """What fills a disk that is ready with the bytes that it reads; the disk's size stays."""


class ILeaving(Interface):
    """A storage that keeps something of the node though no disk is ready, such as a file system that is mounted."""

    async def leave() -> Sequence[str]:
        """Give it back, as the node leaves its cluster; doing it twice is no error. Gives what stays and why, a line each."""
