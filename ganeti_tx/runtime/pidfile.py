"""One instance of a daemon at a time, told by a locked pid file: one that a crash left behind is no hindrance."""

import errno
import fcntl
import os
from pathlib import Path

from ganeti_tx.errors import PidFileLockError
from ganeti_tx.runtime.file_lock import HeldFile

PID_FILE_MODE = 0o644


def claim_pid_file(path: Path) -> HeldFile:
    """Write this process's id to a pid file and hold it; releasing it removes it.

    @raise PidFileLockError: another process holds it.
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, PID_FILE_MODE)
        try:
            _lock(descriptor, path)
            if _is_still_at(path, descriptor):
                os.truncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                return HeldFile(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # its holder removed it between our opening and our locking: try the new one


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as failure:
        if failure.errno not in {errno.EAGAIN, errno.EACCES}:
            raise
        holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
        raise PidFileLockError(f"{path} is locked by process {holder}: it is running already")


def _is_still_at(path: Path, descriptor: int) -> bool:
    """Whether the path still leads to the opened file."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def holder(path: Path) -> int | None:
    """The id of the process that holds a pid file; one that a crash left behind may name anybody by now."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
            return None
    except BlockingIOError:
        return _written_in(path)
    except OSError:
        return None


def _written_in(path: Path) -> int | None:
    try:
        return int(path.read_bytes()[:32].split()[0])
    except (OSError, ValueError, IndexError):
        return None
