"""The lists of locks and reservations on a disk that fails."""

import errno
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.inprocess.faulty_disk import FaultPlan, FaultyDisk
from ganeti_tx.wconfd.mirror import LAST_PAUSE, Mirror

PATH = Path("/state/locks.data")


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

    def saved(self, patience: float | None = None) -> "Deferred[None]":
        """Whether it is in the file."""
        return Deferred.fromCoroutine(self.mirror.saved(patience))

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

    def test_patience(self) -> None:
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
