"""Files that live in memory."""

import errno
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from attrs import define
from zope.interface import implementer

from ganeti_tx.runtime.files import DEFAULT_DIRECTORY_MODE, DEFAULT_FILE_MODE, FileStat, IFiles

Fault = Callable[[str, Path], OSError | None]
#: What tells a symbolic link, whose content is its target, from files.
LINK_MODE = 0o120777
Listener = Callable[[Path], None]


@define
class _Entry:
    """One file (with data) or directory (with None)."""

    data: bytes | None
    mode: int
    mtime: float
    inode: int
    owner: tuple[int, int] = (0, 0)


def error(code: int, path: Path) -> OSError:
    """The error the operating system would raise."""
    return OSError(code, os.strerror(code), str(path))


@implementer(IFiles)
class MemoryFiles:
    """A file system in memory; `fault` may fail any operation, `listeners` hear of each file that changed.

    A fault is asked with the name of the `IFiles` method and the path (`write_many`: once for each path).
    Modification times are a counter: no two changes share one.
    """

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault
        self.listeners: list[Listener] = []
        self._changes = 0
        self._entries: dict[Path, _Entry] = {Path("/"): _Entry(None, 0o755, 0.0, 0)}

    async def write_atomic(self, path: Path, data: bytes, mode: int = DEFAULT_FILE_MODE, *, sync: bool = True) -> None:
        """See `IFiles`."""
        self._check_write("write_atomic", path)
        self._put(path, data, mode)

    async def write_many(self, files: Mapping[Path, bytes], mode: int = DEFAULT_FILE_MODE) -> None:
        """See `IFiles`."""
        for path in files:
            self._check_write("write_many", path)
        for path, data in files.items():
            self._put(path, data, mode)

    async def make_sure(self, directories: Collection[Path]) -> None:
        """See `IFiles`."""
        for directory in directories:
            self._check("make_sure", directory)
            if self._find(directory).data is not None:
                raise error(errno.ENOTDIR, directory)

    def read(self, path: Path, limit: int, *, links: bool = True) -> bytes:
        """See `IFiles`."""
        self._check("read", path)
        data = self._find(path).data
        if not links and self._find(path).mode == LINK_MODE:
            raise error(errno.ELOOP, path)
        if data is None:
            raise error(errno.EISDIR, path)
        if len(data) > limit:
            raise OSError(errno.EFBIG, f"larger than {limit} bytes", str(path))
        return data

    def exists(self, path: Path) -> bool:
        """See `IFiles`."""
        return path in self._entries

    def listdir(self, path: Path) -> list[str]:
        """See `IFiles`."""
        self._check("listdir", path)
        if self._find(path).data is not None:
            raise error(errno.ENOTDIR, path)
        above = f"{path}/".replace("//", "/")
        below = (text.removeprefix(above) for text in map(str, self._entries) if text.startswith(above))
        return sorted(name for name in below if name and "/" not in name)

    def remove(self, path: Path) -> None:
        """See `IFiles`."""
        self._check("remove", path)
        if self._find(path).data is None:
            raise error(errno.EISDIR, path)
        del self._entries[path]
        self._tell(path)

    def rmdir(self, path: Path) -> None:
        """See `IFiles`."""
        self._check("rmdir", path)
        if self.listdir(path):
            raise error(errno.ENOTEMPTY, path)
        del self._entries[path]

    def rename(self, source: Path, target: Path) -> None:
        """See `IFiles`."""
        self._check("rename", source)
        entry = self._find(source)
        self.mkdir(target.parent)
        if entry.data is None:
            self._move_tree(source, target)
            return
        if target in self._entries and self._entries[target].data is None:
            raise error(errno.EISDIR, target)
        del self._entries[source]
        self._entries[target] = entry
        self._tell(source)
        self._tell(target)

    def _move_tree(self, source: Path, target: Path) -> None:
        if target in self._entries:
            raise error(errno.ENOTEMPTY, target)
        for path in self._tree(source):
            self._entries[target / path.relative_to(source)] = self._entries.pop(path)

    def _tree(self, top: Path) -> list[Path]:
        return [path for path in self._entries if path == top or top in path.parents]

    def remove_tree(self, path: Path) -> None:
        """See `IFiles`."""
        self._check("remove_tree", path)
        for each in self._tree(path):
            del self._entries[each]

    def symlink(self, path: Path, target: str) -> None:
        """See `IFiles`; links are not followed here, as nothing that tests look at is reached through one."""
        self._check_write("symlink", path)
        self._put(path, os.fsencode(target), LINK_MODE)

    def readlink(self, path: Path) -> str:
        """See `IFiles`."""
        self._check("readlink", path)
        entry = self._find(path)
        if entry.data is None or entry.mode != LINK_MODE:
            raise error(errno.EINVAL, path)
        return os.fsdecode(entry.data)

    def mkdir(self, path: Path, mode: int = DEFAULT_DIRECTORY_MODE) -> None:
        """See `IFiles`."""
        self._check("mkdir", path)
        if path in self._entries:
            if self._entries[path].data is not None:
                raise error(errno.EEXIST, path)
            return
        self.mkdir(path.parent, mode)
        self._entries[path] = self._new(None, mode)

    def stat(self, path: Path) -> FileStat:
        """See `IFiles`."""
        self._check("stat", path)
        entry = self._find(path)
        return FileStat(
            size=len(entry.data or b""),
            mode=entry.mode,
            mtime=entry.mtime,
            inode=entry.inode,
            is_directory=entry.data is None,
            uid=entry.owner[0],
        )

    def set_mode(self, path: Path, mode: int) -> None:
        """See `IFiles`."""
        self._check("set_mode", path)
        self._find(path).mode = mode

    def set_owner(self, path: Path, uid: int, gid: int) -> None:
        """See `IFiles`."""
        self._check("set_owner", path)
        self._find(path).owner = (uid, gid)

    def owner(self, path: Path) -> tuple[int, int]:
        """Who owns a file: (uid, gid). For tests."""
        return self._find(path).owner

    def contents(self) -> dict[Path, tuple[bytes, int]]:
        """Every file with its content and mode. For tests."""
        return {path: (each.data, each.mode) for path, each in self._entries.items() if each.data is not None}

    def find(self, text: bytes) -> list[Path]:
        """The files that hold a text. For tests."""
        return [path for path, (data, _mode) in self.contents().items() if text in data]

    def _check(self, operation: str, path: Path) -> None:
        fault = self.fault(operation, path) if self.fault is not None else None
        if fault is not None:
            raise fault

    def _check_write(self, operation: str, path: Path) -> None:
        self._check(operation, path)
        if self._find(path.parent).data is not None:
            raise error(errno.ENOTDIR, path)
        if path in self._entries and self._entries[path].data is None:
            raise error(errno.EISDIR, path)

    def _find(self, path: Path) -> _Entry:
        if path not in self._entries:
            raise error(errno.ENOENT, path)
        return self._entries[path]

    def _new(self, data: bytes | None, mode: int) -> _Entry:
        self._changes += 1
        return _Entry(data, mode, float(self._changes), self._changes)

    def _put(self, path: Path, data: bytes, mode: int) -> None:
        self._entries[path] = self._new(data, mode)
        self._tell(path)

    def _tell(self, path: Path) -> None:
        for listener in list(self.listeners):
            listener(path)
