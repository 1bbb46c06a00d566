"""Files: small ones read at once, writes that are whole or not there at all."""

import errno
import os
import stat
from collections import Counter
from collections.abc import Coroutine, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from attrs import frozen
from zope.interface import Interface, implementer

from ganeti_tx.runtime.threads import IThreads

DEFAULT_FILE_MODE = 0o640
DEFAULT_DIRECTORY_MODE = 0o750
TEMPORARY_SUFFIX = ".tmp"

#: Await it, or hand it to `Deferred.fromCoroutine`.
Writing = Coroutine[Any, Any, None]


@frozen
class FileStat:
    """What is known of a file without opening it; two stats that compare equal mean an unchanged file."""

    size: int
    mode: int  # permission bits only
    mtime: float  # seconds since the epoch
    inode: int
    is_directory: bool = False


class IFiles(Interface):
    """The file system as the programs see it. Everything raises OSError, with the operating system's own errno."""

    def write_atomic(path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> Writing:
        """Replace or create a file; done once it is on the disk (unless `sync` is false).

        A reader sees the old content or the new, never a part; a failure leaves the old file and nothing else.
        Of several writes under way to one path, the one asked for last is the one that stays.
        """

    def write_many(files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> Writing:
        """Replace or create many files, each as `write_atomic` does, with one directory sync for all of a directory.

        When one of them cannot be written, none is replaced.
        """

    def read(path: Path, limit: int) -> bytes:
        """The whole content. @raise OSError: EFBIG, the file is larger than `limit` bytes."""

    def exists(path: Path) -> bool:
        """Whether there is a file or directory of that name."""

    def listdir(path: Path) -> list[str]:
        """The names in a directory, sorted, temporary files of writes under way left out."""

    def remove(path: Path) -> None:
        """Remove one file."""

    def rmdir(path: Path) -> None:
        """Remove one empty directory."""

    def rename(source: Path, target: Path) -> None:
        """Move a file over whatever is at the target; directories missing on the way are created."""

    def mkdir(path: Path, mode: int = DEFAULT_DIRECTORY_MODE) -> None:
        """Create a directory and its missing parents, exactly with that mode; one that exists is left as it is."""

    def stat(path: Path) -> FileStat:
        """Size, mode, modification time and inode; links are followed."""

    def set_mode(path: Path, mode: int) -> None:
        """Change the permission bits."""

    def set_owner(path: Path, uid: int, gid: int) -> None:
        """Change the owner."""


@implementer(IFiles)
class RealFiles:
    """The file system of this machine."""

    def __init__(self, threads: IThreads) -> None:
        self._threads = threads
        self._newest = _NewestWins()

    async def write_atomic(self, path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> None:
        """See `IFiles`."""
        ticket = self._newest.enter([path])
        await self._threads.run(self._replace_all, {path: data}, mode, sync, ticket)

    async def write_many(self, files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> None:
        """See `IFiles`."""
        ticket = self._newest.enter(list(files))
        await self._threads.run(self._replace_all, dict(files), mode, True, ticket)

    def _replace_all(self, files: Mapping[Path, bytes], mode: int, sync: bool, ticket: int) -> None:
        """Write every file beside its target, then move all into place. Runs in a thread."""
        waiting: dict[Path, Path] = {}
        try:
            for path, data in files.items():
                waiting[path] = path.parent / f".{path.name}.{os.getpid()}-{ticket}{TEMPORARY_SUFFIX}"
                _write_new(waiting[path], data, mode, sync)
            for path in files:
                self._newest.move(waiting[path], path, ticket)
                del waiting[path]
            if sync:
                for directory in {path.parent for path in files}:
                    _sync_directory(directory)
        finally:
            for temporary in waiting.values():
                temporary.unlink(missing_ok=True)
            self._newest.leave(list(files))

    def read(self, path: Path, limit: int) -> bytes:
        """See `IFiles`."""
        with path.open("rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise OSError(errno.EFBIG, f"larger than {limit} bytes", str(path))
        return data

    def exists(self, path: Path) -> bool:
        """See `IFiles`."""
        return path.exists()

    def listdir(self, path: Path) -> list[str]:
        """See `IFiles`."""
        return sorted(name for name in os.listdir(path) if not is_temporary(name))

    def remove(self, path: Path) -> None:
        """See `IFiles`."""
        path.unlink()

    def rmdir(self, path: Path) -> None:
        """See `IFiles`."""
        path.rmdir()

    def rename(self, source: Path, target: Path) -> None:
        """See `IFiles`."""
        source.lstat()  # a missing source creates no directories
        self.mkdir(target.parent)
        source.rename(target)

    def mkdir(self, path: Path, mode: int = DEFAULT_DIRECTORY_MODE) -> None:
        """See `IFiles`."""
        if path.is_dir():
            return
        if path.parent != path:
            self.mkdir(path.parent, mode)
        try:
            path.mkdir(mode)
        except FileExistsError:
            if not path.is_dir():  # else another was quicker
                raise
        else:
            path.chmod(mode)  # the umask may have taken bits away

    def stat(self, path: Path) -> FileStat:
        """See `IFiles`."""
        found = path.stat()
        return FileStat(
            found.st_size, stat.S_IMODE(found.st_mode), found.st_mtime, found.st_ino, stat.S_ISDIR(found.st_mode)
        )

    def set_mode(self, path: Path, mode: int) -> None:
        """See `IFiles`."""
        path.chmod(mode)

    def set_owner(self, path: Path, uid: int, gid: int) -> None:
        """See `IFiles`."""
        os.chown(path, uid, gid)


class _NewestWins:
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

    def move(self, temporary: Path, path: Path, ticket: int) -> None:
        """Put what was written in its place, or drop it for what is newer."""
        with self._lock:
            if ticket < self._placed.get(path, 0):
                temporary.unlink()
            else:
                temporary.rename(path)
                self._placed[path] = ticket

    def leave(self, paths: list[Path]) -> None:
        """The write is over, well or not; nothing is kept of a path to which none is under way."""
        with self._lock:
            for path in paths:
                self._under_way[path] -= 1
                if not self._under_way[path]:
                    del self._under_way[path]
                    self._placed.pop(path, None)


def is_temporary(name: str) -> bool:
    """Whether a name in a directory is that of a write under way (or of one that a crash cut short)."""
    return name.startswith(".") and name.endswith(TEMPORARY_SUFFIX)


def _write_new(path: Path, data: bytes, mode: int, sync: bool) -> None:
    """A file that must not exist yet; nobody can open it before its mode is right."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(data)
        file.flush()
        if sync:
            os.fsync(descriptor)


def _sync_directory(directory: Path) -> None:
    """Make renames in a directory outlast a power cut."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
