"""Replacing files so that they are old or new, never half, and several of them all or none, whatever step fails.

Each file is written beside its target and synced, some of them together, then all are moved into place, then their
directories are synced.
"""

import errno
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock

from attrs import define, field

from ganeti_tx.runtime.files_calls import IDiskCalls, SystemCalls
from ganeti_tx.runtime.files_errors import HalfPlaced, NotSynced, explained, words
from ganeti_tx.runtime.files_leftovers import temporary_name

#: A file system that has no second names; there a file that was replaced cannot be put back.
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK)
#: Files that are open at a time, to be synced together.
OPEN = 64


class NewestWins:
    """Lets a write into its place only if no later one is there: threads finish in any order."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last_ticket = 0
        self._under_way: Counter[Path] = Counter()
        self._placed: dict[Path, int] = {}

    def enter(self, paths: list[Path]) -> int:
        """A ticket for one write to some paths; tickets rise."""
        with self._lock:
            self._under_way.update(paths)
            self._last_ticket += 1
            return self._last_ticket

    def place(self, path: Path, ticket: int, move: Callable[[], None]) -> bool:
        """Do the move unless something newer is there; whether it was done."""
        with self._lock:
            if ticket < self._placed.get(path, 0):
                return False
            move()
            self._placed[path] = ticket
            return True

    def take_back(self, path: Path, ticket: int, move: Callable[[], None]) -> None:
        """Do the move if what this ticket placed is still there."""
        with self._lock:
            if self._placed.get(path) == ticket:
                move()

    def leave(self, paths: list[Path]) -> None:
        """The write is over, well or not; nothing is kept of a path to which none is under way."""
        with self._lock:
            for path in paths:
                self._under_way[path] -= 1
                if not self._under_way[path]:
                    del self._under_way[path]
                    self._placed.pop(path, None)


@define
class Replacement:
    """One write of one or several files."""

    calls: IDiskCalls
    newest: NewestWins
    ticket: int
    files: Mapping[Path, bytes]
    mode: int
    sync: bool
    _new: dict[Path, Path] = field(factory=dict)
    _old: dict[Path, Path] = field(factory=dict)
    _placed: list[Path] = field(factory=list)

    def run(self) -> None:
        """Write them all.

        @raise OSError: nothing was replaced and, as far as the disk allows, nothing is left. @raise HalfPlaced: some
            were. @raise NotSynced: all are in place.
        """
        try:
            paths = iter(self.files)
            while some := list(islice(paths, OPEN)):
                self._write_together(some)
            for path in self.files:
                self._place(path)
            if self.sync:
                self._sync_directories()
        finally:
            for left in (*self._new.values(), *self._old.values()):
                with suppress(OSError):  # the next start removes it
                    self.calls.unlink(left)
            self.newest.leave(list(self.files))

    def _write_together(self, paths: Sequence[Path]) -> None:
        opened: dict[int, Path] = {}
        try:
            for path in paths:
                self._write_beside(path, opened)
            if self.sync:
                self._sync(opened)
        finally:
            failed = self._close(opened)
        if failed is not None:
            raise failed

    def _write_beside(self, path: Path, opened: dict[int, Path]) -> None:
        beside = path.parent / temporary_name(path.name, self.ticket)
        self._new[path] = beside
        try:
            descriptor = self.calls.create(beside, self.mode)
            opened[descriptor] = path
            self.calls.own(descriptor, path)
            left = memoryview(self.files[path])
            while left:
                left = left[self.calls.write(descriptor, left) :]
        except OSError as error:
            raise explained(error, path) from None

    def _sync(self, opened: Mapping[int, Path]) -> None:
        faults = self.calls.sync_each(list(opened))
        for descriptor, path in opened.items():
            if descriptor in faults:
                raise explained(faults[descriptor], path)

    def _close(self, opened: Mapping[int, Path]) -> OSError | None:
        """Close them all; the first error."""
        failed = None
        for descriptor, path in opened.items():
            try:
                self.calls.close(descriptor)
            except OSError as error:
                failed = failed or explained(error, path)
        return failed

    def _place(self, path: Path) -> None:
        try:
            if len(self.files) > 1:
                self._keep_old(path)
            if self.newest.place(path, self.ticket, lambda: self.calls.move(self._new[path], path)):
                del self._new[path]
                self._placed.append(path)
        except OSError as error:
            self._take_back(error, path)
            raise explained(error, path) from None

    def _keep_old(self, path: Path) -> None:
        """A second name for what is to be replaced, so that it can be put back."""
        if not self.calls.is_there(path):
            return
        kept = path.parent / temporary_name(path.name, self.ticket, "old")
        try:
            self.calls.link(path, kept)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
        else:
            self._old[path] = kept

    def _take_back(self, error: OSError, failed: Path) -> None:
        """Put back what was there. @raise HalfPlaced: that failed, too."""
        stuck: list[Path] = []
        for path in reversed(self._placed):
            try:
                self.newest.take_back(path, self.ticket, lambda path=path: self._restore(path))  # type: ignore[misc]
            except OSError:
                stuck.append(path)
        if stuck:
            names = ", ".join(path.name for path in stuck)
            text = f"{words(error, failed)}; {names} could not be put back as it was"
            raise HalfPlaced(error.errno or errno.EIO, text, str(failed), stuck) from None
        if self._placed and self.sync:
            with suppress(OSError):
                self._sync_directories()

    def _restore(self, path: Path) -> None:
        if path in self._old:
            self.calls.move(self._old[path], path)
            del self._old[path]
        else:
            self.calls.unlink(path)

    def _sync_directories(self) -> None:
        for directory in {path.parent: None for path in self.files}:
            try:
                self.calls.sync_directory(directory)
            except OSError as error:
                text = f"it is in place, but a power cut may bring back the old one: {words(error, directory / 'x')}"
                first = next(path for path in self.files if path.parent == directory)
                raise NotSynced(error.errno or errno.EIO, text, str(first)) from None


def replace_file(path: Path, data: bytes, mode: int) -> None:
    """Replace one file for good, for programs that do nothing else meanwhile. @raise OSError: as IFiles.write_atomic."""
    newest = NewestWins()
    Replacement(SystemCalls(), newest, newest.enter([path]), {path: data}, mode, sync=True).run()
