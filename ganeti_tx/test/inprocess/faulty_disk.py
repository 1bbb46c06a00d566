"""A disk that fails: at any step of any write, for once or until it is mended, and one that loses power.

The program's own code for replacing files runs on it, step by step; only the system's calls are simulated. There are two
states of the disk: what programs see (the page cache), and what is on the platter, which is all that a power cut leaves.
"""

import errno
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from attrs import define, field
from zope.interface import implementer

from ganeti_tx.runtime.files import DEFAULT_DIRECTORY_MODE, DEFAULT_FILE_MODE
from ganeti_tx.runtime.files_calls import IDiskCalls
from ganeti_tx.runtime.files_leftovers import is_temporary
from ganeti_tx.runtime.files_replace import NewestWins, Replacement
from ganeti_tx.test.fakes.files import Fault, _Entry, error
from ganeti_tx.test.inprocess.power import VOLATILE, LosingFiles

#: The steps at which the system says so when a disk is full, when it is read-only, when it is broken, and when too many
#: files are open.
ALLOCATING = frozenset({"create", "write", "sync", "move", "link", "mkdir", "sync_directory", "rename"})
CHANGING = ALLOCATING | {"unlink", "remove", "rmdir"}
OPENING = frozenset({"create", "sync_directory", "read", "listdir"})
STEPS_OF = {
    errno.ENOSPC: ALLOCATING,
    errno.EDQUOT: ALLOCATING,
    errno.EROFS: CHANGING,
    errno.EIO: CHANGING,
    errno.EMFILE: OPENING,
}


@define
class FaultPlan:
    """Fails the steps from the n-th on, counted from 1: that one only, or all until `lift`."""

    code: int
    first: int
    lasting: bool
    seen: int = 0
    struck: list[tuple[str, Path]] = field(factory=list)
    lifted: bool = False

    def __call__(self, step: str, path: Path) -> OSError | None:
        """The error of this step, if it is one that fails."""
        if step not in STEPS_OF[self.code]:
            return None
        self.seen += 1
        if self.lifted or self.seen < self.first or (self.struck and not self.lasting):
            return None
        self.struck.append((step, path))
        return error(self.code, path)

    def lift(self) -> None:
        """The disk is well again."""
        self.lifted = True


@implementer(IDiskCalls)
class FaultyDisk(LosingFiles):
    """Files in memory of which each write is made of steps. `fault` is asked before each; see `FaultPlan`.

    A write that fails has taken half of its data. `piece` is the most that one write takes.
    """

    in_steps = True

    def __init__(self, fault: Fault | None = None, piece: int = 1 << 30) -> None:
        super().__init__(lambda: 0.0, fault)
        self.piece = piece
        self._newest = NewestWins()
        self._open: dict[int, tuple[_Entry, Path]] = {}
        self._last_descriptor = 2
        self._synced: dict[int, bytes] = {}
        self._names: dict[Path, dict[Path, _Entry]] = {}

    # IFiles, where it differs

    async def write_atomic(self, path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> None:
        """See `IFiles`."""
        self._replace({path: data}, mode, sync)

    async def write_many(self, files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> None:
        """See `IFiles`."""
        self._replace(dict(files), mode, True)

    def _replace(self, files: dict[Path, bytes], mode: int, sync: bool) -> None:
        Replacement(self, self._newest, self._newest.enter(list(files)), files, mode, sync).run()

    def listdir(self, path: Path) -> list[str]:
        """See `IFiles`."""
        return [name for name in super().listdir(path) if not is_temporary(name)]

    def rename(self, source: Path, target: Path) -> None:
        """See `IFiles`. As in a journal, what a power cut leaves has the file at one of the two places."""
        super().rename(source, target)
        before, after = self._names.setdefault(source.parent, {}), self._names.setdefault(target.parent, {})
        if source in before:
            after[target] = before.pop(source)

    def mkdir(self, path: Path, mode: int = DEFAULT_DIRECTORY_MODE) -> None:
        """See `IFiles`. A directory that is there needs no step."""
        if path not in self._entries or self._entries[path].data is not None:
            super().mkdir(path, mode)

    # IDiskCalls

    def create(self, path: Path, mode: int) -> int:
        """See `IDiskCalls`."""
        self._check("create", path)
        if self._find(path.parent).data is not None:
            raise error(errno.ENOTDIR, path)
        if path in self._entries:
            raise error(errno.EEXIST, path)
        entry = self._entries[path] = self._new(b"", mode)
        self._last_descriptor += 1
        self._open[self._last_descriptor] = (entry, path)
        return self._last_descriptor

    def own(self, descriptor: int, path: Path) -> None:
        """See `IDiskCalls`. This disk's files are all one user's."""

    def write(self, descriptor: int, data: memoryview) -> int:
        """See `IDiskCalls`."""
        entry, path = self._open[descriptor]
        fault = self.fault("write", path) if self.fault is not None else None
        taken = len(data) // 2 if fault is not None else min(len(data), self.piece)
        assert entry.data is not None
        entry.data += bytes(data[:taken])
        if fault is not None:
            raise fault
        return taken

    def sync(self, descriptor: int) -> None:
        """See `IDiskCalls`. After a failure the data never gets to the platter, whoever syncs again."""
        entry, path = self._open[descriptor]
        self._check("sync", path)
        assert entry.data is not None
        self._synced[entry.inode] = entry.data

    def sync_each(self, descriptors: Sequence[int]) -> Mapping[int, OSError]:
        """See `IDiskCalls`. One after the other, so that a run can be told again."""
        faults: dict[int, OSError] = {}
        for descriptor in descriptors:
            try:
                self.sync(descriptor)
            except OSError as error:
                faults[descriptor] = error
        return faults

    def close(self, descriptor: int) -> None:
        """See `IDiskCalls`."""
        del self._open[descriptor]

    def move(self, source: Path, target: Path) -> None:
        """See `IDiskCalls`."""
        self._check("move", target)
        entry = self._find(source)
        if target in self._entries and self._entries[target].data is None:
            raise error(errno.EISDIR, target)
        del self._entries[source]
        self._entries[target] = entry
        self._tell(target)

    def link(self, source: Path, target: Path) -> None:
        """See `IDiskCalls`."""
        self._check("link", source)
        if self._find(source).data is None:
            raise error(errno.EPERM, source)
        self._entries[target] = self._entries[source]

    def unlink(self, path: Path) -> None:
        """See `IDiskCalls`."""
        self._check("unlink", path)
        self._find(path)
        del self._entries[path]
        if not is_temporary(path.name):
            self._tell(path)

    def sync_directory(self, path: Path) -> None:
        """See `IDiskCalls`."""
        self._check("sync_directory", path)
        self._names[path] = self._names_in(path)

    def is_there(self, path: Path) -> bool:
        """See `IDiskCalls`."""
        return path in self._entries

    # Power

    def settle(self) -> None:
        """Everything gets to the platter, as after some quiet minutes."""
        for path, entry in self._entries.items():
            if entry.data is not None:
                self._synced[entry.inode] = entry.data
            else:
                self._names[path] = self._names_in(path)

    def lose_power(self, chance: Random) -> None:
        """Go back to what is on the platter; what was not synced may have got there, in part, or not."""
        self._open.clear()
        after: dict[Path, _Entry] = {path: entry for path, entry in self._entries.items() if entry.data is None}
        for directory in list(after):
            names = self._names_in(directory) if chance.random() < 0.5 else self._names.get(directory, {})
            after.update(names)
        for path in [each for each in after if VOLATILE in each.parents]:
            del after[path]
        for entry in after.values():
            if entry.data is not None and self._synced.get(entry.inode) != entry.data:
                entry.data = entry.data[: chance.randrange(len(entry.data) + 1)]
        self._entries = after

    def leftovers(self) -> list[Path]:
        """The temporary files that are there."""
        return [path for path in self._entries if is_temporary(path.name)]

    def _names_in(self, directory: Path) -> dict[Path, _Entry]:
        return {
            path: entry for path, entry in self._entries.items() if path.parent == directory and entry.data is not None
        }
