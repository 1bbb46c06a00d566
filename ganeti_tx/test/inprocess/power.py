"""A disk that loses, when its machine loses power, what nobody had made sure of."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from random import Random

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.runtime.files import DEFAULT_FILE_MODE, IFiles
from ganeti_tx.test.fakes.files import Fault, MemoryFiles

#: What is in memory only and so never outlasts the machine's power.
VOLATILE = Path("/var/run")
#: Seconds after which the file system has written everything by itself.
WRITEBACK = 30.0


@frozen
class Unsure:
    """A move or a removal that may yet be lost: what each path held before."""

    at: float
    before: Mapping[Path, tuple[bytes, int] | None]


@implementer(IFiles)
class LosingFiles(MemoryFiles):
    """Files in memory that know which of their changes have reached the disk."""

    #: Whether several files are written by `write_many`, step by step, and not each by itself.
    in_steps = False

    def __init__(self, now: Callable[[], float], fault: Fault | None = None) -> None:
        super().__init__(fault)
        self._now = now
        self._moves: list[Unsure] = []
        self._unsynced: dict[Path, float] = {}

    async def write_atomic(self, path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> None:
        """See IFiles. A synced write syncs its directory, too, and with it earlier moves and removals there."""
        if sync:
            self._sure_of(path)
        else:
            self._unsynced[path] = self._now()
        await super().write_atomic(path, data, mode, sync=sync)

    async def write_many(self, files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> None:
        """See IFiles."""
        for path in files:
            self._sure_of(path)
        await super().write_many(files, mode)

    async def make_sure(self, directories: Collection[Path]) -> None:
        """See IFiles."""
        await super().make_sure(directories)
        for directory in directories:
            self._sure_of(directory / "any")

    def place(self, path: Path, data: bytes, mode: int) -> None:
        """Put a file in its place for good; `check_write` has said that it can be."""
        self._sure_of(path)
        self._put(path, data, mode)

    def remove(self, path: Path) -> None:
        """See IFiles."""
        change = self._change([path])
        super().remove(path)
        self._moves.append(change)

    def rename(self, source: Path, target: Path) -> None:
        """See IFiles. That of a directory is not lost here."""
        change = self._change([source, target])
        super().rename(source, target)
        if change.before[source] is not None:
            self._moves.append(change)

    def check_write(self, operation: str, path: Path) -> None:
        """@raise OSError: a write there would fail."""
        self._check_write(operation, path)

    def names(self, directory: Path) -> list[str]:
        """The files in a directory, whatever faults there are. For tests."""
        return sorted(path.name for path in self._entries if path.parent == directory)

    def paths(self) -> list[Path]:
        """Every file and directory, whatever faults there are. For tests."""
        return sorted(self._entries)

    def content(self, path: Path) -> tuple[bytes, int] | None:
        """What a file holds, and its mode, whatever faults there are; None when there is none. For tests."""
        entry = self._entries.get(path)
        return None if entry is None or entry.data is None else (entry.data, entry.mode)

    def _change(self, paths: list[Path]) -> Unsure:
        return Unsure(self._now(), {path: self.content(path) for path in paths})

    def _sure_of(self, path: Path) -> None:
        self._unsynced.pop(path, None)
        if self._moves:
            self._moves = [each for each in self._moves if all(moved.parent != path.parent for moved in each.before)]

    def lose_power(self, chance: Random) -> None:
        """Forget what is in memory only, and by chance what was not yet on the disk; the newest change goes first."""
        settled = self._now() - WRITEBACK
        for path, at in self._unsynced.items():
            if at >= settled and (entry := self._entries.get(path)) is not None and chance.random() < 0.5:
                data = entry.data or b""
                entry.data = data[: chance.choice([0, 1, len(data) // 2])]
        for change in reversed([each for each in self._moves if each.at >= settled]):
            if chance.random() < 0.5:
                self._take_back(change)
        self._unsynced.clear()
        self._moves.clear()
        for path in [each for each in self._entries if VOLATILE in each.parents]:
            del self._entries[path]

    def _take_back(self, change: Unsure) -> None:
        for path, content in change.before.items():
            if content is None:
                self._entries.pop(path, None)
            else:
                self._entries[path] = self._new(*content)
