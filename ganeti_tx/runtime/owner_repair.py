"""As root, making the directories of a node whose daemons are users, and giving what is in them to whom it belongs.

Those directories are not root's: whoever has taken a daemon over may put links there. None is followed below `TOPS`.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from ganeti_tx.model.node_files import SSCONF
from ganeti_tx.runtime.directories import ADMINISTRATORS_DIRECTORIES, ADMINISTRATORS_MODE
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.ownership import give
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, FILE_MODES, MOUNT_POINT_MODES, USERS, mode_of
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import was_abandoned
from ganeti_tx.runtime.threads import InlineThreads

#: The directories of the table that are not in another of it; they lie in root's own.
TOPS = tuple(Path(path) for path in DIRECTORY_MODES if not {*map(str, Path(path).parents)} & {*DIRECTORY_MODES})
DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def make_directories() -> None:
    """Each of the table, with its owner and mode, and root's own. @raise OSError: one cannot be made."""
    files = RealFiles(InlineThreads())
    for path in (*map(Path, ADMINISTRATORS_DIRECTORIES), *(top.parent for top in TOPS)):
        files.mkdir(path, ADMINISTRATORS_MODE)
    for path in map(Path, DIRECTORY_MODES):
        with _parent(path) as parent:
            if USERS[DIRECTORY_MODES[str(path)].owner] == "root" and path not in TOPS:
                move_foreign(path.name, parent)
            with suppress(FileExistsError):
                os.mkdir(path.name, 0o700, dir_fd=parent)
        _mended(path)
    for path in map(Path, MOUNT_POINT_MODES):
        with _parent(path) as parent, suppress(FileExistsError):
            os.mkdir(path.name, 0o700, dir_fd=parent)
            _mended(path)


def move_foreign(name: str, parent: int) -> None:
    """Put out of the way what another user has made in the place of a directory of root's, with all that root would find in it."""
    with suppress(FileNotFoundError):
        if os.lstat(name, dir_fd=parent).st_uid != 0:
            os.rename(name, f"{name}.foreign-{token_hex(4)}", src_dir_fd=parent, dst_dir_fd=parent)


def repair_owners(paths: Paths, *, archive: bool = False) -> list[Path]:
    """Mend owner and mode of each file in the tables that is there; gives those that were mended.

    A pid file that nobody holds is removed, as its next writer may be another user.

    @param archive: archived jobs, too, of which there may be very many.
    """
    for path in paths.run_dir.glob("*.pid"):
        with suppress(OSError):  # somebody else was quicker
            if was_abandoned(path):
                path.unlink()
    return [path for path in _files(paths, archive) if _mended(path)]


def _files(paths: Paths, archive: bool) -> Iterator[Path]:
    """What may be there, with the directories of jobs before what is in them."""
    yield from map(Path, FILE_MODES)
    yield from paths.present(SSCONF)
    for directory in (paths.queue_dir, paths.queue_lost_dir, paths.queue_archive_dir):
        yield from _entries(directory)
    if archive:
        for directory in _entries(paths.queue_archive_dir):
            yield from _entries(directory)


def _entries(directory: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(directory) as entries:
        yield from (directory / entry.name for entry in entries)


@contextmanager
def _parent(path: Path) -> Iterator[int]:
    """The directory that a path is in, opened. @raise OSError: ENOTDIR, a link is on the way"""
    top = next((each for each in TOPS if each in path.parents), path.parent)
    descriptor = os.open(top, DIRECTORY)
    try:
        for name in path.parent.relative_to(top).parts:
            inner = _inner(name, descriptor, path)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _inner(name: str, outer: int, path: Path) -> int:
    try:
        return os.open(name, DIRECTORY | os.O_NOFOLLOW, dir_fd=outer)
    except NotADirectoryError as error:
        raise NotADirectoryError(error.errno, f"{name!r} on the way is no directory, or a link", str(path)) from None


def _mended(path: Path) -> bool:
    """Whether there was something to mend. What is a link, hard or symbolic, or cannot be opened, such as a socket, is left."""
    wanted = mode_of(str(path))
    if wanted is None:
        return False
    try:
        with _parent(path) as parent:
            descriptor = os.open(path.name, LOOK, dir_fd=parent)
    except OSError:
        return False
    try:
        return _mend(descriptor, path, wanted.mode)
    finally:
        os.close(descriptor)


def _mend(descriptor: int, path: Path, mode: int) -> bool:
    found = os.fstat(descriptor)
    if stat.S_ISREG(found.st_mode) and found.st_nlink != 1:
        return False
    with suppress(OSError):  # a daemon that runs as root need not have all of root's rights
        give(descriptor, path)
        if stat.S_IMODE(found.st_mode) != mode:
            os.fchmod(descriptor, mode)
    after = os.fstat(descriptor)
    return (found.st_uid, found.st_gid, found.st_mode) != (after.st_uid, after.st_gid, after.st_mode)
