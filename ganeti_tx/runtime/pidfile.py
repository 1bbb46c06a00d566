"""One instance of a daemon at a time, told by a locked pid file: one that a crash left behind is no hindrance."""

import errno
import fcntl
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from ganeti_tx.errors import PidFileLockError
from ganeti_tx.runtime.file_lock import HeldFile
from ganeti_tx.runtime.files_errors import explained
from ganeti_tx.runtime.opened_or_made import open_or_make

PID_FILE_MODE = 0o644
#: Seconds after which a file is claimed again that somebody only asked about.
ASKED = 0.001
#: So often another one may take the place of a file that is claimed.
ATTEMPTS = 100


def claim_pid_file(path: Path) -> HeldFile:
    """Write this process's id to a pid file and hold it; releasing it removes it.

    One that is another user's is not used, as he could still write to it: root makes a new one in its place.

    @raise PidFileLockError: another process holds it, or it stays another user's. @raise OSError: it cannot be written; an empty
        one may be left.
    """
    try:
        return _claim(path)
    except OSError as failure:
        raise explained(failure, path) from None


def _claim(path: Path) -> HeldFile:
    for _ in range(ATTEMPTS):
        _remove_foreign(path)
        descriptor = open_or_make(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, PID_FILE_MODE)
        try:
            if not _is_foreign(os.fstat(descriptor)):
                _lock(descriptor, path)
                if _is_still_at(path, descriptor):
                    os.fchmod(descriptor, PID_FILE_MODE)  # the umask may have taken bits away
                    os.truncate(descriptor, 0)
                    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                    return HeldFile(path, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # it was replaced between two of our steps: try the new one
    raise PidFileLockError(f"{path} cannot be locked: it was replaced {ATTEMPTS} times meanwhile")


def _is_foreign(found: os.stat_result) -> bool:
    return found.st_uid not in {0, os.geteuid()}


def _remove_foreign(path: Path) -> None:
    """@raise PidFileLockError: there is one of another user's, who alone can remove it, or root."""
    with suppress(FileNotFoundError):
        found = path.lstat()
        if not _is_foreign(found):
            return
        if os.geteuid() != 0:
            raise PidFileLockError(f"{path} is not used, as it belongs to user {found.st_uid}: remove it")
        path.unlink()


def _lock(descriptor: int, path: Path) -> None:
    """Only an exclusive lock of somebody else is a reason to fail; who asks about the file holds a shared one for a moment."""
    while not _try(descriptor, fcntl.LOCK_EX):
        if not _try(descriptor, fcntl.LOCK_SH):
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise PidFileLockError(f"{path} is locked by process {holder}: it is running already")
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        time.sleep(ASKED)


def _try(descriptor: int, kind: int) -> bool:
    """Whether a lock could be had at once."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as failure:
        if failure.errno not in {errno.EAGAIN, errno.EACCES}:
            raise
        return False
    return True


def _is_still_at(path: Path, descriptor: int) -> bool:
    """Whether the path still leads to the opened file."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def holder(path: Path) -> int | None:
    """The process that holds a pid file; None when nobody does, or it has not said its id yet.

    Pid files lie where each of the daemons' users may put any: what belongs to one of them tells of his processes only,
    as root sends signals to those that are told.
    """
    try:
        process, held = _look(path)
    except FileNotFoundError:
        return None
    return process if held else None


def was_abandoned(path: Path) -> bool:
    """Whether a pid file's process died without removing it, as one does that ends in order."""
    try:
        return not _look(path)[1]
    except FileNotFoundError:
        return False


def _look(path: Path) -> tuple[int | None, bool]:
    """The process id in a pid file, and whether the file is held. @raise FileNotFoundError: there is none (any more)."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return None, False
        held = not _try(descriptor, fcntl.LOCK_SH)
        text = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        path.lstat()  # its holder may have removed it and let it go meanwhile, in that order
    finally:
        os.close(descriptor)
    process = int(text) if text.isdigit() else None
    if process is not None and found.st_uid not in {0, os.geteuid(), *users_of(process)}:
        return None, held
    return process, held


def users_of(process: int) -> frozenset[int]:
    """The user ids that a process has, whichever of its four; none when it is gone (proc(5), "status")."""
    with suppress(OSError):
        for line in Path(f"/proc/{process:d}/status").read_text("utf-8", "replace").splitlines():
            if line.startswith("Uid:"):
                return frozenset(map(int, line.split()[1:]))
    return frozenset()
