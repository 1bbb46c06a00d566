"""Giving files that are there already to whom they belong: another program, or an earlier version, may have made them."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ganeti_tx.runtime.ownership import give, has_own_users
from ganeti_tx.runtime.path_modes import FILE_MODES, mode_of
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import was_abandoned


def repair_owners(paths: Paths, *, archive: bool = False) -> list[Path]:
    """Mend owner and mode of each file in the tables that is there, as root; gives those that were mended.

    A pid file that nobody holds is removed, as its next writer may be another user.

    @param archive: archived jobs, too, of which there may be very many.
    """
    if os.geteuid() != 0 or not has_own_users(paths):
        return []
    for path in paths.run_dir.glob("*.pid"):
        with suppress(OSError):  # somebody else was quicker
            if was_abandoned(path):
                path.unlink()
    return [path for path in _files(paths, archive) if _mended(path)]


def _files(paths: Paths, archive: bool) -> Iterator[Path]:
    """What may be there, with the directories of jobs before what is in them."""
    yield from map(Path, FILE_MODES)
    yield from paths.data_dir.glob("ssconf_*")
    for directory in (paths.queue_dir, paths.queue_lost_dir, paths.queue_archive_dir):
        yield from _entries(directory)
    if archive:
        for directory in _entries(paths.queue_archive_dir):
            yield from _entries(directory)


def _entries(directory: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(directory) as entries:
        yield from (directory / entry.name for entry in entries)


def _mended(path: Path) -> bool:
    """Whether there was something to mend; a link, hard or symbolic, is left alone."""
    wanted = mode_of(str(path))
    if wanted is None:
        return False
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _mend(descriptor, path, wanted.mode)
    finally:
        os.close(descriptor)


def _mend(descriptor: int, path: Path, mode: int) -> bool:
    found = os.fstat(descriptor)
    if stat.S_ISLNK(found.st_mode) or (stat.S_ISREG(found.st_mode) and found.st_nlink != 1):
        return False  # it may lead to a file of somebody else's
    same = Path(f"/proc/self/fd/{descriptor}")  # what was looked at, whatever is put in its place meanwhile
    with suppress(PermissionError):  # a daemon that runs as root need not have all of root's rights
        give(same, path)
        if stat.S_IMODE(found.st_mode) != mode:
            same.chmod(mode)
    after = os.fstat(descriptor)
    return (found.st_uid, found.st_gid, found.st_mode) != (after.st_uid, after.st_gid, after.st_mode)
