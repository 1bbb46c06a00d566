"""The drain flag."""

import errno

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import JobQueueError
from ganeti_tx.queue.files.drain import DrainFlag
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles


class DrainTests(SynchronousTestCase):
    """A flag over files in memory."""

    def setUp(self) -> None:
        """Unset."""
        self.files, self.paths = MemoryFiles(), Paths()
        self.files.mkdir(self.paths.queue_dir)
        self.told: list[bool] = []
        self.flag = DrainFlag(self.files, self.paths, self.tell)

    async def tell(self, drained: bool) -> None:
        """The candidates hear of it."""
        self.told.append(drained)

    def set(self, drained: bool) -> bool:
        """Set or remove it."""
        return self.successResultOf(Deferred.fromCoroutine(self.flag.set(drained)))

    def test_file(self) -> None:
        """The flag is an empty file, so that it outlives every daemon; removing what is not there is no error."""
        self.assertFalse(self.flag.is_set())
        self.assertTrue(self.set(True))
        self.assertEqual(self.files.read(self.paths.queue_drain_file, 1), b"")
        self.assertTrue(DrainFlag(self.files, self.paths, self.tell).is_set())
        self.assertTrue(self.set(False) and self.set(False))
        self.assertFalse(self.flag.is_set())
        self.assertEqual(self.told, [True, False, False])

    def test_disk_refuses(self) -> None:
        """A flag that cannot be changed is an error with the reason, and nobody is told."""
        self.set(True)
        self.files.fault = lambda operation, path: OSError(errno.EROFS, "Read-only file system")
        for drained, verb in ((True, "set"), (False, "removed")):
            changing = Deferred.fromCoroutine(self.flag.set(drained))
            text = str(self.failureResultOf(changing, JobQueueError).value)
            self.assertEqual(
                text, f"the drain flag {self.paths.queue_drain_file} cannot be {verb}: Read-only file system"
            )
        self.assertEqual((self.flag.is_set(), self.told), (True, [True]))
