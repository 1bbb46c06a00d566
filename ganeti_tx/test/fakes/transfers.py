"""Transfers of disks in memory: both ends live on the machines, not in their daemons."""

import hashlib
from collections.abc import Callable
from itertools import count
from pathlib import Path

from attrs import define, field
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from zope.interface import implementer

from ganeti_tx.errors import OpExecError
from ganeti_tx.node.transfer.interfaces import ITransferEnds
from ganeti_tx.node.transfer.spec import Spec, Status
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.fakes.files import MemoryFiles

#: Seconds between two attempts to connect.
AGAIN = 0.5
#: Seconds that a process takes to begin.
STARTING = 0.15
#: The program that has Ceph's images.
IMAGES = "rbd"
#: What prints a disk as soon as the ends have met; any other command never begins to.
COPYING = ("dd", IMAGES)
#: MiB that a script is taken to print.
SCRIPT_SIZE = 50


@define(eq=False)
class End:
    """One end: where it is, what it was told, how far it is, and to whom it is connected."""

    home: "FakeTransferEnds"
    spec: Spec
    status: Status = field(factory=Status)
    peer: "End | None" = None
    calls: list[IDelayedCall] = field(factory=list)
    unheard: bool = True

    def speak(self) -> None:
        """Its process has begun."""
        self.unheard = False

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.status.exit_status is not None

    def finish(self, exit_status: int, error: str | None = None) -> None:
        """It ends, and its peer hears of it."""
        if self.over:
            return
        self.status.exit_status, self.status.error_message = exit_status, error
        self.unheard = False
        for call in self.calls:
            if call.active():
                call.cancel()
        if self.peer is not None and error is not None:
            self.peer.finish(1, "the other end has broken off")


@define
class TransferWire:
    """Where ends find each other; `rate` is MiB a second."""

    rate: float = 100.0
    listeners: dict[tuple[str, int], End] = field(factory=dict)
    ports: "count[int]" = field(factory=lambda: count(40000))

    def know_one_another(self, end: End, other: End) -> bool:
        """Whether each is the one that the other was told of: by the certificate, or by the name of its node."""
        if not (end.spec.certificate or other.spec.certificate):
            return other.home.node == end.spec.peer and other.spec.peer == end.home.node
        return all(self._shown(one) == two.spec.certificate for one, two in ((end, other), (other, end)))

    def _shown(self, end: End) -> str:
        files, path = end.home.files, Path(end.spec.identity)
        return files.read(path, 1 << 20).decode() if files is not None and files.exists(path) else "none"

    def read(self, end: End) -> str | None:
        """What the command of an end prints: what is on a disk, or in a file."""
        path = path_of(end.spec)
        disk, files = end.home.devices(path), end.home.files
        if disk is not None:
            return disk.content
        return files.read(Path(path), 1 << 20).decode() if files is not None and files.exists(Path(path)) else None

    def write(self, end: End, content: str) -> bool:
        """Have the command of an end read it; whether it can."""
        path = path_of(end.spec)
        if (disk := end.home.devices(path)) is not None:
            disk.content = content
            return True
        files = end.home.files
        if files is None or not files.exists(Path(path).parent) or files.exists(Path(path)):
            return False
        Deferred.fromCoroutine(files.write_atomic(Path(path), content.encode(), 0o600, sync=False))
        return True


def done(other: End) -> None:
    """The end that received says farewell."""
    for each in (other, other.peer):
        if each is not None:
            each.finish(0)


def path_of(spec: Spec) -> str:
    """What the command of an end reads or fills."""
    if spec.script is not None:
        return spec.script.environment["EXPORT_DEVICE" if spec.sends else "IMPORT_DEVICE"]
    if IMAGES in spec.command:
        return f"{IMAGES}:" + next(word for word in reversed(spec.command) if word != "-")
    (path,) = [word[3:] for word in spec.command if word.startswith(("if=", "of="))]
    return path


def checksum(content: str) -> str:
    """Of what a file holds."""
    return hashlib.sha256(content.encode()).hexdigest()


@implementer(ITransferEnds)
@define
class FakeTransferEnds:
    """The ends on one node, at whose devices they are."""

    node: str
    wire: TransferWire
    devices: Callable[[str], FakeDisk | None]
    clock: IReactorTime
    ends: dict[str, End] = field(factory=dict)
    #: What each was told that was begun here.
    begun: list[Spec] = field(factory=list)
    #: Of the node.
    files: MemoryFiles | None = None

    async def start(self, name: str, spec: Spec) -> None:
        """See `ITransferEnds`."""
        if name in self.ends:
            raise OpExecError(f"transfer {name} has been begun before")
        end = self.ends[name] = End(self, spec)
        self.begun.append(spec)
        self._later(end, STARTING, end.speak)
        if spec.sends:
            self._later(end, 0, self._connect, end, self.clock.seconds() + spec.connect_limit)
            return
        end.status.listen_port = port = next(self.wire.ports)
        self.wire.listeners[spec.host, port] = end
        late = f"{spec.peer} has not connected within {spec.connect_limit:.0f} seconds"
        self._later(end, spec.connect_limit, self._alone, end, late)

    def _later(self, end: End, seconds: float, work: Callable[..., None], *args: object) -> None:
        end.calls.append(self.clock.callLater(seconds, work, *args))

    def _alone(self, end: End, why: str) -> None:
        if end.peer is None:
            end.finish(1, why)

    def _connect(self, end: End, limit: float) -> None:
        other = self.wire.listeners.get((end.spec.host, end.spec.port))
        if other is not None and not other.over and self.wire.know_one_another(end, other):
            self._connected(end, other)
        elif self.clock.seconds() + AGAIN > limit:
            end.finish(1, f"cannot connect to {end.spec.peer}: nobody is there")
        else:
            self._later(end, AGAIN, self._connect, end, limit)

    def _connected(self, end: End, other: End) -> None:
        end.peer, other.peer = other, end
        end.status.connected = other.status.connected = True
        if end.spec.magic != other.spec.magic:
            other.finish(1, "what came is not for this disk: the magic at its beginning differs")
        elif end.spec.command[0] in COPYING or end.spec.script is not None:
            self._later(end, max(end.spec.size, SCRIPT_SIZE) / self.wire.rate, self._copy, end, other)

    def _copy(self, end: End, other: End) -> None:
        content = self.wire.read(end)
        if content is None:
            end.finish(1, f"{end.spec.command[0]} exited with status 1")
        elif end.spec.sha256 not in (None, checksum(content)):
            end.finish(1, "what was read is damaged")
        elif not self.wire.write(other, content):
            other.finish(1, f"{other.spec.command[0]} exited with status 1")
        else:
            other.status.sha256 = "" if other.spec.sha256 is None else checksum(content)
            for each in (end, other):
                each.status.progress_mbytes = end.spec.size
            other.status.filled = other.spec.holds
            if not other.spec.holds:
                done(other)

    async def status(self, name: str) -> Status | None:
        """See `ITransferEnds`."""
        end = self.ends.get(name)
        if end is None or end.unheard:
            return None
        return replace(end.status)

    async def stop(self, name: str) -> None:
        """See `ITransferEnds`."""
        if (end := self.ends.get(name)) is not None:
            end.finish(-15, "it was stopped")

    async def release(self, name: str) -> None:
        """See `ITransferEnds`."""
        if (end := self.ends.get(name)) is not None and end.status.filled:
            done(end)

    async def remove(self, name: str) -> None:
        """See `ITransferEnds`."""
        await self.stop(name)
        self.ends.pop(name, None)

    def lose_power(self) -> None:
        """All that ran here is gone, and so is what it wrote down."""
        for end in self.ends.values():
            end.finish(-9, "the machine is gone")
        self.ends.clear()
