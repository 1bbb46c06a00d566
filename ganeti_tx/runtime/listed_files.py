"""A file that is not the cluster's own, as it is here, on its way to the other nodes."""

import errno
import os
from pathlib import Path

from ganeti_tx.model.listed_files import CLOSED, MAX_FILE, MAX_TOGETHER, listed, path_fault
from ganeti_tx.model.node_files import DISTRIBUTED_FILES
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths

#: So many links on the way to a file, as with the kernel.
MAX_LINKS = 40
#: Bytes of the list.
MAX_LIST = 256 * 1024


def listed_place(files: IFiles, paths: Paths, path: str) -> Path:
    """Where it is here. `path` is the path on a node whose root is "/".

    @raise ValueError: it is none that may be sent, or links lead from it to where nothing is. @raise OSError: the way
    there cannot be followed.
    """
    if fault := path_fault(path):
        raise ValueError(fault)
    here = _below(paths, path)
    real = _resolved(files, here)
    root = _resolved(files, paths.root)
    if real.is_relative_to(root) and (fault := path_fault(f"/{real.relative_to(root)}")):
        raise ValueError(f"it leads to {real}: {fault}")
    for closed in CLOSED:  # which may be links themselves
        if real.is_relative_to(_resolved(files, _below(paths, closed))):
            raise ValueError(f"it leads to {real}: nothing below {closed} is sent")
    return here


def _below(paths: Paths, path: str) -> Path:
    return paths.root / path.lstrip("/")


def _resolved(files: IFiles, path: Path) -> Path:
    """Where all links on the way lead to; what is not there is no link."""
    found, links = Path(path.anchor), 0
    ahead = _parts(path)
    while ahead:
        name = ahead.pop()
        if name == "..":
            found = found.parent
            continue
        target = _target(files, found / name)
        if target is None:
            found /= name
            continue
        links += 1
        if links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        if target.is_absolute():
            found = Path(target.anchor)
        ahead += _parts(target)
    return found


def _parts(path: Path) -> list[str]:
    """Its names, the last one first."""
    return [part for part in reversed(path.parts) if part != path.anchor]


def _target(files: IFiles, path: Path) -> Path | None:
    try:
        return Path(files.readlink(path))
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOENT, errno.ENOTDIR}:
            raise
    return None


def read_list(files: IFiles, paths: Paths) -> list[str]:
    """The administrator's list; empty where there is none. @raise ValueError: it is no text. @raise OSError: it cannot be read."""
    path = paths.of(DISTRIBUTED_FILES)
    return listed(files.read(path, MAX_LIST).decode()) if files.exists(path) else []


def readable_list(files: IFiles, paths: Paths) -> list[str]:
    """The same for those who need not know why it cannot be read, as others tell."""
    try:
        return read_list(files, paths)
    except (OSError, ValueError):
        return []


def read_listed(files: IFiles, paths: Paths, path: str, room: int) -> tuple[bytes, int]:
    """What is in it, and its mode. `path` is the path on a node whose root is "/"; `room`: bytes that are left.

    @raise ValueError: it is none that may be sent. @raise OSError: it cannot be read.
    """
    here = listed_place(files, paths, path)
    status = files.stat(here)
    if status.is_directory:
        raise ValueError("it is a directory")
    if status.size > MAX_FILE:
        raise ValueError(f"it has {status.size} bytes, more than {MAX_FILE}")
    if status.size > room:
        raise ValueError(f"all files together have more than {MAX_TOGETHER} bytes")
    return files.read(here, MAX_FILE), status.mode & 0o777
