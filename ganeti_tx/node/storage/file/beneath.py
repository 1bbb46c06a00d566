"""Opening what is below a directory without following links: what was checked is what is used.

Whoever may write to a directory may exchange what is in it at any moment, between a check and the use, and again before the
machine opens its disk by its path. So each step goes from the descriptor of the directory before it, takes no link, and
enters no directory to which others than its administrator may write (doc/design/file-storage.rst).
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import frozen

from ganeti_tx.errors import FileStoragePathError

DIRECTORY_MODE = 0o750
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@frozen(kw_only=True)
class Place:
    """Where a disk is, once its path is known to be allowed.

    @ivar plain: its path, as it was asked for.
    @ivar top: the listed directory that it is below; a link there is the administrator's, and is followed.
    @ivar below: the directories between.
    """

    plain: Path
    top: Path
    below: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file's in its directory."""
        return self.plain.name


@contextmanager
def directories(top: Path, below: Sequence[str], create: bool = False) -> Iterator[list[int]]:
    """Descriptors of a listed directory and of each on the way down.

    @param create: make those that are missing. @raise FileStoragePathError: a step is a link or no directory, or others may
        write to one. @raise FileNotFoundError: one is missing.
    """
    opened: list[int] = []
    try:
        if create:
            top.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        opened.append(os.open(os.path.realpath(top), DIRECTORY))
        owners = check_top(opened[0], top)
        path = top
        for step in below:
            path /= step
            opened.append(enter(opened[-1], step, path, create))
            check_inner(opened[-1], path, owners)
        yield opened
    finally:
        for descriptor in reversed(opened):
            os.close(descriptor)


def enter(directory: int, step: str, path: Path, create: bool) -> int:
    """The descriptor of a directory in a directory."""
    if create:
        with suppress(FileExistsError):
            os.mkdir(step, DIRECTORY_MODE, dir_fd=directory)
    try:
        return os.open(step, DIRECTORY, dir_fd=directory)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise FileStoragePathError(
            f"file storage path {str(path)!r} is not used: a link, or no directory, is in its place ({error.strerror})"
        ) from None


def check_top(descriptor: int, path: Path) -> frozenset[int]:
    """Who may own what is below a listed directory. @raise FileStoragePathError: others may exchange what is in it."""
    seen = os.fstat(descriptor)
    if seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not seen.st_mode & stat.S_ISVTX:
        raise FileStoragePathError(writable(path))
    return frozenset({0, os.geteuid(), seen.st_uid})


def check_inner(descriptor: int, path: Path, owners: frozenset[int]) -> None:
    """@raise FileStoragePathError: others may exchange what is in it."""
    seen = os.fstat(descriptor)
    if seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise FileStoragePathError(writable(path))
    if seen.st_uid not in owners:
        raise FileStoragePathError(
            f"file storage directory {str(path)!r} is not used: it belongs to user {seen.st_uid}, who could exchange the "
            "disks in it"
        )


def writable(path: Path) -> str:
    """What is wrong with a directory that others may write to, and what to do."""
    return (
        f"file storage directory {str(path)!r} is not used: others than its owner may write to it, and could exchange the "
        f"disks in it; run 'chmod go-w {path}' when they have not"
    )
