"""A file that one process at a time holds locked; the kernel frees it when the process ends."""

import errno
import fcntl
import os
import stat
from pathlib import Path

from attrs import define

from ganeti_tx.errors import LockError
from ganeti_tx.runtime.opened_or_made import open_or_make
from ganeti_tx.runtime.ownership import give

#: Without waiting for a writer, should it be a pipe that another user has put there.
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: So often a file may be gone when it is locked.
ATTEMPTS = 100


@define
class HeldFile:
    """A file that this process holds locked, until `release` or its own end."""

    path: Path
    _descriptor: int
    _stays: bool = False

    def is_in_place(self) -> bool:
        """Whether the path still leads to the file that is held."""
        try:
            there = os.stat(self.path, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(self._descriptor))

    def release(self) -> None:
        """Unlock the file, and remove it unless it stays. A second time does nothing."""
        if self._descriptor >= 0:
            if not self._stays:
                self.path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = -1


def hold(path: Path, mode: int) -> HeldFile:
    """Lock a file, which is made if need be and stays; programs that this process starts do not inherit the lock.

    It is not opened for writing, so that nothing keeps its file system from being remounted. Also who holds it may remove
    it, before the release: the next one makes a file of its own.

    @raise LockError: another process holds it. @raise OSError: it cannot be opened or made, or is no file to be locked
    """
    for _ in range(ATTEMPTS):
        held = _hold_what_is_there(path, mode)
        if held.is_in_place():
            return held
        held.release()
    raise LockError(f"{path} cannot be locked: it was replaced {ATTEMPTS} times meanwhile")


def _hold_what_is_there(path: Path, mode: int) -> HeldFile:
    descriptor = open_or_make(path, FLAGS, mode)
    try:
        _check_plain(path, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        give(descriptor, path)
        os.fchmod(descriptor, mode)
    except OSError as failure:
        os.close(descriptor)
        if failure.errno not in {errno.EAGAIN, errno.EACCES}:
            raise
        raise LockError(f"{path} is locked by another process") from None
    return HeldFile(path, descriptor, stays=True)


def _check_plain(path: Path, descriptor: int) -> None:
    """Users of daemons may put anything into their directories. @raise OSError: it is a pipe, or has another name elsewhere."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise OSError(
            errno.EINVAL,
            "what is there is no regular file with one name, so it is not used as a lock; remove it",
            str(path),
        )
