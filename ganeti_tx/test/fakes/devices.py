"""What is below /dev of a simulated node: the devices that are ready there, and who has them open."""

from attrs import define, field

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.model.status import LocalDiskStatus


@define
class MirrorNotes:
    """What a mirror keeps beside its data on a volume of its own.

    @ivar generations: one number for each time that the data went on without the other side; of two sides, the one that has the
        other's and more is the newer. None: never filled.
    @ivar good: whether the data are whole, and the latest that this side knows of.
    @ivar synced: MiB of a synchronisation that is not done.
    """

    size: int
    generations: tuple[int, ...] = ()
    good: bool = False
    synced: float = 0.0


@define
class FakeDisk:
    """The room of one disk: its size in MiB, and whether it is ready on the node whose it is.

    @ivar content: what was written to it, in the words of tests.
    @ivar under: the path of the device that really holds the content, for one that lies upon another.
    @ivar owner: the text that it is marked with.
    @ivar health: what its storage knows of it. @ivar upon: how many physical volumes it lies on.
    """

    size: int
    assembled: bool = False
    content: str = ""
    notes: MirrorNotes | None = None
    under: str | None = None
    owner: str = ""
    health: LocalDiskStatus = LocalDiskStatus.OK
    upon: int = 1


@define
class DeviceNodes:
    """Paths of ready devices and what is behind them; a device that has users cannot be taken down."""

    behind: dict[str, FakeDisk] = field(factory=dict)
    users: dict[str, set[str]] = field(factory=dict)

    def appear(self, path: str, disk: FakeDisk) -> None:
        """A device is ready."""
        self.behind[path] = disk

    def vanish(self, path: str) -> None:
        """It is so no longer. @raise BlockDeviceError: somebody has it open."""
        self.refuse_used(path)
        self.behind.pop(path, None)

    def refuse_used(self, path: str) -> None:
        """@raise BlockDeviceError: somebody has it open."""
        if users := self.users.get(path):
            raise BlockDeviceError(f"device {path} is in use by {', '.join(sorted(users))}")

    def open(self, path: str, user: str) -> FakeDisk:
        """What is behind a device, for somebody who keeps it open. @raise BlockDeviceError: there is no such device."""
        disk = self.behind.get(path)
        if disk is None:
            raise BlockDeviceError(f"there is no device {path}")
        self.users.setdefault(path, set()).add(user)
        return disk

    def close(self, path: str, user: str) -> None:
        """Undo `open`; doing it twice is no error."""
        self.users.get(path, set()).discard(user)

    def lose_power(self) -> None:
        """Nothing is ready any more."""
        self.behind.clear()
        self.users.clear()
