"""A node's files as a process on it sees them: writing takes time, and a process may die before it is done."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import Deferred
from zope.interface import implementer

from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.runtime.files import DEFAULT_DIRECTORY_MODE, DEFAULT_FILE_MODE, FileStat, IFiles
from ganeti_tx.test.fakes.file_watch import MemoryFileWatch
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.inprocess.power import LosingFiles
from ganeti_tx.test.inprocess.simulation import Process

#: Seconds that a write takes until it is on the disk; and until its process hears of it.
LATENCY = 0.0015
ECHO = 0.0005


@implementer(IFiles)
@define
class ProcessFiles:
    """The files of a node for one process.

    As with threads, writes under way may be done in any order, and of several to one path the last one asked for stays.
    A process that dies meanwhile does not know whether they were done.
    """

    disk: LosingFiles
    process: Process
    _tickets: int = 0
    _placed: dict[Path, int] = field(factory=dict)

    async def write_atomic(self, path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> None:
        """See IFiles."""
        self._tickets += 1
        ticket = self._tickets
        await self.process.takes(LATENCY)
        if ticket > self._placed.get(path, 0):
            self._placed[path] = ticket
            await self.disk.write_atomic(path, data, mode, sync=sync)
        await self.process.takes(ECHO)

    async def write_many(self, files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> None:
        """See IFiles. Each is put in its place by itself: who dies meanwhile leaves the first of them."""
        self._tickets += 1
        ticket = self._tickets
        await self.process.takes(LATENCY)
        if self.disk.in_steps:
            await self.disk.write_many(files, mode)
            return
        for path in files:
            self.disk.check_write("write_many", path)
        for number, (path, data) in enumerate(files.items()):
            if number:
                await self.process.takes(ECHO)
            if ticket > self._placed.get(path, 0):
                self._placed[path] = ticket
                self.disk.place(path, data, mode)
        await self.process.takes(ECHO)

    async def make_sure(self, directories: Collection[Path]) -> None:
        """See IFiles."""
        await self.process.takes(LATENCY)
        await self.disk.make_sure(directories)

    def read(self, path: Path, limit: int, *, links: bool = True) -> bytes:
        """See IFiles."""
        return self.disk.read(path, limit, links=links)

    def exists(self, path: Path) -> bool:
        """See IFiles."""
        return self.disk.exists(path)

    def listdir(self, path: Path) -> list[str]:
        """See IFiles."""
        return self.disk.listdir(path)

    def remove(self, path: Path) -> None:
        """See IFiles."""
        self.disk.remove(path)

    def rmdir(self, path: Path) -> None:
        """See IFiles."""
        self.disk.rmdir(path)

    def remove_tree(self, path: Path) -> None:
        """See IFiles."""
        self.disk.remove_tree(path)

    def rename(self, source: Path, target: Path) -> None:
        """See IFiles."""
        self.disk.rename(source, target)

    def symlink(self, path: Path, target: str) -> None:
        """See IFiles."""
        self.disk.symlink(path, target)

    def readlink(self, path: Path) -> str:
        """See IFiles."""
        return self.disk.readlink(path)

    def mkdir(self, path: Path, mode: int = DEFAULT_DIRECTORY_MODE) -> None:
        """See IFiles."""
        self.disk.mkdir(path, mode)

    def stat(self, path: Path) -> FileStat:
        """See IFiles."""
        return self.disk.stat(path)

    def set_mode(self, path: Path, mode: int) -> None:
        """See IFiles."""
        self.disk.set_mode(path, mode)

    def set_owner(self, path: Path, uid: int, gid: int) -> None:
        """See IFiles."""
        self.disk.set_owner(path, uid, gid)


@implementer(IFileWatch)
class ProcessFileWatch:
    """Hears of changes a moment later, as from a kernel."""

    def __init__(self, disk: MemoryFiles, process: Process) -> None:
        self._watch = MemoryFileWatch(disk)
        self._process = process

    def watch(self, directory: Path, changed: Callable[[str], None]) -> None:
        """See IFileWatch."""
        self._watch.watch(directory, lambda name: self._process.callLater(0, changed, name))

    def stop(self) -> None:
        """See IFileWatch."""
        self._watch.stop()


def put(disk: MemoryFiles, path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE) -> None:
    """Write a file at once, with the directories that it needs; for setting the scene."""
    disk.mkdir(path.parent)
    Deferred.fromCoroutine(disk.write_atomic(path, data, mode))
