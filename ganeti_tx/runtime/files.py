"""Files: small ones read at once, writes that are whole or not there at all."""

import errno
import os
import shutil
import stat
from collections.abc import Collection, Coroutine, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from attrs import frozen
from zope.interface import Interface, implementer

from ganeti_tx.runtime.files_calls import IDiskCalls, SystemCalls
from ganeti_tx.runtime.files_leftovers import is_temporary, temporary_name
from ganeti_tx.runtime.files_replace import NewestWins, Replacement
from ganeti_tx.runtime.ownership import give
from ganeti_tx.runtime.threads import IThreads

DEFAULT_FILE_MODE = 0o640
DEFAULT_DIRECTORY_MODE = 0o750

#: Await it, or hand it to `Deferred.fromCoroutine`.
Writing = Coroutine[Any, Any, None]


@frozen(kw_only=True)
class FileStat:
    """What is known of a file without opening it; two stats that compare equal mean an unchanged file."""

    size: int
    mode: int  # permission bits only
    mtime: float  # seconds since the epoch
    inode: int
    is_directory: bool = False
    uid: int = 0


class IFiles(Interface):
    """The file system as the programs see it. Everything raises OSError, with the operating system's own errno."""

    def write_atomic(path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> Writing:
        """Replace or create a file; done once it is on the disk (unless `sync` is false).

        A reader sees the old content or the new, never a part; a failure leaves the old file and nothing else, and
        names the path, what the system said and what to do. The one exception is NotSynced: the new file is in place.
        Of several writes under way to one path, the one asked for last is the one that stays.
        """

    def write_many(files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> Writing:
        """Replace or create many files, each as `write_atomic` does, with one directory sync for all of a directory.

        When one of them cannot be written, none is replaced; HalfPlaced says that even that could not be kept up.
        """

    def make_sure(directories: Collection[Path]) -> Writing:
        """What was moved and removed in these directories before outlasts a power cut, once this is done."""

    def read(path: Path, limit: int, *, links: bool = True) -> bytes:
        """The whole content. @param links: whether the file may be a link.

        @raise OSError: EFBIG, the file is larger than `limit` bytes; EINVAL, it is a pipe; ELOOP, it is a link.
        """

    def exists(path: Path) -> bool:
        """Whether there is a file or directory of that name."""

    def listdir(path: Path) -> list[str]:
        """The names in a directory, sorted, temporary files of writes under way left out."""

    def remove(path: Path) -> None:
        """Remove one file."""

    def rmdir(path: Path) -> None:
        """Remove one empty directory."""

    def remove_tree(path: Path) -> None:
        """Remove a directory with all that is in it, or a file; no link is followed, and nothing there is no error."""

    def rename(source: Path, target: Path) -> None:
        """Move a file over whatever is at the target; directories missing on the way are created.

        A directory moves with all that is in it, to where nothing is.
        """

    def symlink(path: Path, target: str) -> None:
        """Have a symbolic link there, whether its target is or not, in place of a link or file of that name."""

    def readlink(path: Path) -> str:
        """The target of a symbolic link. @raise OSError: EINVAL, it is no link."""

    def mkdir(path: Path, mode: int = DEFAULT_DIRECTORY_MODE) -> None:
        """Create a directory and its missing parents, exactly with that mode; one that exists is left as it is."""

    def stat(path: Path) -> FileStat:
        """Size, mode, modification time and inode; links are followed."""

    def set_mode(path: Path, mode: int) -> None:
        """Change the permission bits."""

    def set_owner(path: Path, uid: int, gid: int) -> None:
        """Change the owner; of a link, its own."""


@implementer(IFiles)
class RealFiles:
    """The file system of this machine."""

    def __init__(self, threads: IThreads, calls: IDiskCalls | None = None) -> None:
        """`calls` are this machine's unless a test has others."""
        self._threads = threads
        self._calls = calls or SystemCalls()
        self._newest = NewestWins()
        self._link_tickets = count()

    async def write_atomic(self, path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> None:
        """See `IFiles`."""
        await self._threads.run(self._replacement({path: data}, mode, sync).run)

    async def write_many(self, files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> None:
        """See `IFiles`."""
        await self._threads.run(self._replacement(dict(files), mode, True).run)

    async def make_sure(self, directories: Collection[Path]) -> None:
        """See `IFiles`."""

        def sync() -> None:
            for directory in directories:
                self._calls.sync_directory(directory)

        await self._threads.run(sync)

    def _replacement(self, files: Mapping[Path, bytes], mode: int, sync: bool) -> Replacement:
        return Replacement(self._calls, self._newest, self._newest.enter(list(files)), files, mode, sync)

    def read(self, path: Path, limit: int, *, links: bool = True) -> bytes:
        """See `IFiles`."""
        # Some directories are their users' own: nobody waits at a pipe that one of them puts there.
        more = os.O_NONBLOCK if links else os.O_NONBLOCK | os.O_NOFOLLOW
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | more)) as file:
            found = os.fstat(file.fileno())
            if stat.S_ISFIFO(found.st_mode):
                raise OSError(errno.EINVAL, "is a pipe, not a file", str(path))
            expected = min(found.st_size, limit) + 1
            data = file.read(expected)  # asking for all that is allowed would reserve as much memory
            if len(data) == expected:  # it grows, or is of those that do not tell their size
                data += file.read(limit + 1 - len(data))
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

    def remove_tree(self, path: Path) -> None:
        """See `IFiles`."""
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def rename(self, source: Path, target: Path) -> None:
        """See `IFiles`."""
        source.lstat()  # a missing source creates no directories
        self.mkdir(target.parent)
        source.rename(target)

    def symlink(self, path: Path, target: str) -> None:
        """See `IFiles`."""
        fresh = path.with_name(temporary_name(path.name, next(self._link_tickets)))
        fresh.symlink_to(target)
        try:
            fresh.replace(path)
        except OSError:
            fresh.unlink()
            raise

    def readlink(self, path: Path) -> str:
        """See `IFiles`."""
        return os.readlink(path)

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
            give(path, path)

    def stat(self, path: Path) -> FileStat:
        """See `IFiles`."""
        found = path.stat()
        return FileStat(
            size=found.st_size,
            mode=stat.S_IMODE(found.st_mode),
            mtime=found.st_mtime,
            inode=found.st_ino,
            is_directory=stat.S_ISDIR(found.st_mode),
            uid=found.st_uid,
        )

    def set_mode(self, path: Path, mode: int) -> None:
        """See `IFiles`."""
        path.chmod(mode)

    def set_owner(self, path: Path, uid: int, gid: int) -> None:
        """See `IFiles`."""
        found = path.lstat()
        if (found.st_uid, found.st_gid) != (uid, gid):  # to say it once more needs as much right as to change it
            os.chown(path, uid, gid, follow_symlinks=False)  # who owns the directory may put a link there at any moment
