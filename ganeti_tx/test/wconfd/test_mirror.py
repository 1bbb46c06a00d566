"""The lists of locks and reservations on a disk that fails."""

import errno
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.files import DEFAULT_FILE_MODE
from ganeti_tx.test.inprocess.faulty_disk import FaultPlan, FaultyDisk
from ganeti_tx.wconfd.mirror import LAST_PAUSE, Mirror

PATH = Path("/state/locks.data")


class SlowDisk(FaultyDisk):
    """Takes its time: each write goes on until `finish`."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[tuple[bytes, Deferred[None]]] = []

    async def write_atomic(self, path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> None:
        """See IFiles."""
        done: Deferred[None] = Deferred()
        self.writes.append((data, done))
        await done

    def finish(self) -> None:
        """The oldest write has come to its end."""
        self.writes.pop(0)[1].callback(None)


class SharedWriteTests(SynchronousTestCase):
    """How many writes it takes."""

    def setUp(self) -> None:
        self.disk, self.state = SlowDisk(), b"a"
        self.mirror = Mirror(self.disk, PATH, lambda: self.state, Clock())

    def change(self, state: bytes) -> "Deferred[None]":
        """Another state; fires when it is in the file."""
        self.state = state
        self.mirror.changed()
        return Deferred.fromCoroutine(self.mirror.saved())

    def test_under_way(self) -> None:
        """Who changed nothing since a write began waits for that write only."""
        first = self.change(b"b")
        self.disk.finish()
        self.successResultOf(first)
        self.assertEqual(self.disk.writes, [])

    def test_later(self) -> None:
        """What changes while a write is under way needs another one, which all such changes share."""
        first, second, third = self.change(b"b"), self.change(b"c"), self.change(b"d")
        self.disk.finish()
        self.successResultOf(first)
        self.assertNoResult(second)
        self.assertEqual([data for data, _ in self.disk.writes], [b"d"])
        self.disk.finish()
        self.successResultOf(second)
        self.successResultOf(third)
        self.assertEqual(self.disk.writes, [])

    def test_asked_by_one_who_is_told(self) -> None:
        """Who asks again the moment it is told, having changed nothing, is not left waiting."""
        again: list[Deferred[None]] = []
        first = self.change(b"b").addCallback(lambda _: again.append(Deferred.fromCoroutine(self.mirror.saved())))
        self.disk.finish()
        self.successResultOf(first)
        self.successResultOf(again[0])

    def test_changed_by_one_who_is_told(self) -> None:
        """What is changed the moment the write before is told of is written, too."""
        again: list[Deferred[None]] = []
        self.change(b"b").addCallback(lambda _: again.append(self.change(b"c")))
        self.disk.finish()
        self.assertNoResult(again[0])
        self.assertEqual([data for data, _ in self.disk.writes], [b"c"])
        self.disk.finish()
        self.successResultOf(again[0])


class MirrorTests(SynchronousTestCase):
    """One mirror of a number."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.disk = FaultyDisk()
        self.disk.mkdir(PATH.parent)
        self.number = 0
        self.mirror = Mirror(self.disk, PATH, lambda: str(self.number).encode(), self.clock)

    def count(self) -> None:
        """Another state."""
        self.number += 1
        self.mirror.changed()

    def saved(self, timeout: float | None = None) -> "Deferred[None]":
        """Whether it is in the file."""
        return Deferred.fromCoroutine(self.mirror.saved(timeout))

    def on_disk(self) -> bytes:
        """The file's content."""
        return self.disk.read(PATH, 100)

    def test_well(self) -> None:
        """A change is in the file at once, and nobody waits."""
        self.count()
        self.successResultOf(self.saved())
        self.assertEqual(self.on_disk(), b"1")

    def test_told_when_written(self) -> None:
        """While the disk fails nobody is told; when it is well again the newest state is written, and all are told."""
        self.count()
        plan = FaultPlan(errno.ENOSPC, 1, True)
        self.disk.fault = plan
        self.count()
        first = self.saved()
        self.clock.pump([0.5] * 20)
        self.count()
        second = self.saved()
        self.assertNoResult(first)
        self.assertNoResult(second)
        self.assertEqual(self.on_disk(), b"1")
        plan.lift()
        self.clock.advance(LAST_PAUSE)
        self.successResultOf(first)
        self.successResultOf(second)
        self.assertEqual(self.on_disk(), b"3")
        self.assertEqual(self.clock.getDelayedCalls(), [])
        self.assertEqual(self.disk.leftovers(), [])

    def test_timeout(self) -> None:
        """Who waits only so long hears what the disk said; the write is still made when that is possible."""
        self.disk.fault = plan = FaultPlan(errno.EROFS, 1, True)
        self.count()
        waiting = self.saved(10)
        self.clock.pump([1] * 9)
        self.assertNoResult(waiting)
        self.clock.pump([1] * 2)
        error = self.failureResultOf(waiting, OSError).value
        self.assertEqual((error.errno, error.filename), (errno.EROFS, str(PATH)))
        plan.lift()
        self.clock.advance(LAST_PAUSE)
        self.assertEqual(self.on_disk(), b"1")

    def test_once(self) -> None:
        """One failure, at any step, costs a moment and no more."""
        for code in (errno.ENOSPC, errno.EIO, errno.EMFILE):
            for first in range(1, 4):
                plan = FaultPlan(code, first, False)
                self.disk.fault = plan
                self.count()
                waiting = self.saved(10)
                self.clock.advance(0.25)
                self.successResultOf(waiting)
                plan.lift()
                self.assertEqual(self.on_disk(), str(self.number).encode())
