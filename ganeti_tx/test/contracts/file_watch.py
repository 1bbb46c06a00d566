"""What every IFileWatch does."""

from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase
from zope.interface.verify import verifyObject

from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.runtime.files import IFiles


class FileWatchContract(TestCase):
    """A subclass sets `file_watch`, `files` and an empty directory `top`; `settle` waits until all is told."""

    file_watch: IFileWatch
    files: IFiles
    top: Path

    async def settle(self) -> None:
        """Return once every change so far has been told."""

    def test_interface(self) -> None:
        """It has every method of the interface."""
        verifyObject(IFileWatch, self.file_watch)

    def test_changes(self) -> Deferred[None]:
        """Whoever watches hears of files that are replaced, moved and removed, by their final names."""

        async def changes() -> None:
            heard: list[str] = []
            self.file_watch.watch(self.top, heard.append)
            await self.files.write_atomic(self.top / "job-1", b"")
            await self.settle()
            self.assertEqual(set(heard), {"job-1"})
            heard.clear()
            self.files.rename(self.top / "job-1", self.top / "job-2")
            await self.settle()
            self.assertEqual(set(heard), {"job-1", "job-2"})
            heard.clear()
            self.files.remove(self.top / "job-2")
            await self.settle()
            self.assertEqual(heard, ["job-2"])

        return Deferred.fromCoroutine(changes())

    def test_stop(self) -> Deferred[None]:
        """Everyone who watches is told until it is stopped, then nobody."""

        async def changes() -> None:
            first: list[str] = []
            second: list[str] = []
            self.file_watch.watch(self.top, first.append)
            self.file_watch.watch(self.top, second.append)
            await self.files.write_atomic(self.top / "a", b"")
            await self.settle()
            self.assertEqual((set(first), set(second)), ({"a"}, {"a"}))
            first.clear()
            self.file_watch.stop()
            await self.files.write_atomic(self.top / "b", b"")
            await self.settle()
            self.assertNotIn("b", first)

        return Deferred.fromCoroutine(changes())

    def test_missing(self) -> None:
        """A directory that is not there cannot be watched."""
        self.assertRaises(FileNotFoundError, self.file_watch.watch, self.top / "no", print)
