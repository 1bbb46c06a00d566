"""A file that one process at a time holds locked; the kernel frees it when the process ends."""

import errno
import fcntl
import os
from pathlib import Path

from attrs import define

from ganeti_tx.errors import LockError


@define
class FileLock:
    """A lock of ours, held until `release` or the end of the process. The file stays."""

    path: Path
    _descriptor: int

    def release(self) -> None:
        """Let others have it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def hold(path: Path, mode: int) -> FileLock:
    """Lock a file, which is made if need be; programs that this process starts do not inherit the lock.

    @raise LockError: another process holds it.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.fchmod(descriptor, mode)
    except OSError as failure:
        os.close(descriptor)
        if failure.errno not in {errno.EAGAIN, errno.EACCES}:
            raise
        raise LockError(f"{path} is locked by another process") from None
    return FileLock(path, descriptor)
