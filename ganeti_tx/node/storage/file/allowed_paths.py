"""Which paths file storage may use: those below the directories that the node's administrator listed."""

import errno
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PurePosixPath

from attrs import frozen

from ganeti_tx.errors import FileStoragePathError
from ganeti_tx.node.storage.file.beneath import Place
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: The list's size limit in bytes.
LIST_LIMIT = 1 << 16

#: Never storage, whatever the list says.
SYSTEM = ("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin", "sys", "usr")

#: Never storage of the machine itself; a node whose root lies inside one of them keeps its storage there.
PERSONAL = ("home", "root")


@lru_cache(maxsize=16)
def forbidden_directories(root: Path) -> tuple[Path, ...]:
    """The directories that a node with this root never stores disks in."""
    machine = Path("/")
    own = {root / name for name in (*SYSTEM, *PERSONAL)}
    return tuple(sorted({machine / name for name in SYSTEM} | own))


def is_below(path: Path, directory: Path) -> bool:
    """Whether a path is inside a directory; a directory is not inside itself."""
    return path != directory and path.is_relative_to(directory)


@frozen
class AllowedPaths:
    """The administrator's list, read anew at each question: one absolute directory a line, `#` starts a comment line.

    Symbolic links count as what they lead to, on both sides. All methods do blocking file work.
    """

    files: IFiles
    paths: Paths

    def check(self, path: str) -> Path:
        """The path of a disk, once it is known to be allowed. @raise FileStoragePathError: as `place`."""
        return self.place(path).plain

    def place(self, path: str) -> Place:
        """Where a disk is, once it is known to be allowed. It is used by `beneath` only: links may come meanwhile.

        @raise FileStoragePathError: it is not absolute, has "..", is a system path or is below no listed directory.
        """
        return self._place(path, asked=path)

    def _place(self, path: str, asked: str) -> Place:
        plain = self._plain(path)
        real = Path(os.path.realpath(plain.parent)) / plain.name
        self._refuse_forbidden(plain, asked)
        self._refuse_forbidden(real, asked)
        directories = self.directories()
        found = [each for each in directories if is_below(plain, each) and is_below(real, resolved(each))]
        if not found:
            listed = ", ".join(map(str, directories)) or "none"
            raise FileStoragePathError(
                f"file storage path {asked!r} is not allowed on this node; allowed directories"
                f" ({self.paths.file_storage_paths_file}): {listed}"
            )
        top = max(found, key=lambda each: len(each.parts))
        return Place(plain=plain, top=top, below=plain.parent.relative_to(top).parts)

    def check_directory(self, path: str) -> Path:
        """A listed directory, or one below it. @raise FileStoragePathError: it is neither."""
        return self._place(f"{path.rstrip('/')}/x", asked=path).plain.parent

    def directories(self) -> list[Path]:
        """The listed directories that may be used. @raise FileStoragePathError: there is no list, or it is too long."""
        return [Path(line) for line in self._lines() if self._fault(line) is None]

    def faults(self) -> list[str]:
        """What is wrong with the list, a line each; a node without a list has none."""
        try:
            found = [(line, self._fault(line)) for line in self._lines()]
        except FileStoragePathError as error:
            return [str(error)] if self.files.exists(self.paths.file_storage_paths_file) else []
        return [f"{self.paths.file_storage_paths_file}: {line!r} {fault}" for line, fault in found if fault]

    def _lines(self) -> Iterator[str]:
        try:
            text = self.files.read(self.paths.file_storage_paths_file, LIST_LIMIT).decode("utf-8", "surrogateescape")
        except OSError as error:
            why = "does not exist" if error.errno == errno.ENOENT else f"cannot be read: {error.strerror}"
            raise FileStoragePathError(
                f"no directory is allowed for file storage on this node: {self.paths.file_storage_paths_file} {why};"
                " it lists the allowed directories, one a line"
            )
        stripped = (line.strip() for line in text.splitlines())
        return (line for line in stripped if line and not line.startswith("#"))

    def _fault(self, line: str) -> str | None:
        try:
            plain = self._plain(line)
            self._refuse_forbidden(plain, line)
            self._refuse_forbidden(resolved(plain), line)
            self._refuse_leading_out(plain, line)
        except FileStoragePathError as error:
            return str(error)
        return None

    def _plain(self, path: str) -> Path:
        plain = PurePosixPath(path)
        if not plain.is_absolute() or ".." in plain.parts or "\0" in path or str(plain) == "/":
            raise FileStoragePathError(f"file storage path {path!r} is not allowed: it must be absolute, without '..'")
        return Path(os.path.normpath(plain))

    def _refuse_forbidden(self, path: Path, asked: str) -> None:
        for directory in forbidden_directories(self.paths.root):
            if path == directory or is_below(path, directory):
                raise FileStoragePathError(f"file storage path {asked!r} is not allowed: it is inside {directory}")

    def _refuse_leading_out(self, path: Path, asked: str) -> None:
        """The daemons' users may put links into the run directory; elsewhere a link is the administrator's."""
        run_dir = self.paths.run_dir
        if is_below(path, run_dir) and resolved(path) != resolved(run_dir) / path.relative_to(run_dir):
            raise FileStoragePathError(
                f"file storage path {asked!r} is not allowed: a link in {run_dir}, which others may have put there, leads to"
                f" {resolved(path)}"
            )


def resolved(directory: Path) -> Path:
    """Where a directory really is."""
    return Path(os.path.realpath(directory))
