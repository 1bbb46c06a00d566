"""Whether a process lives, told by a lock on a file (design of the daemons, "Job death detection").

A process locks a file of its own for as long as it lives; the kernel takes the lock away when it dies. Nothing else is
needed to tell: no process ids, which are used again, and no connection, which a busy process may be slow to answer.
"""

import fcntl
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from attrs import frozen
from zope.interface import Interface, implementer

from ganeti_tx.runtime.file_lock import HeldFile
from ganeti_tx.runtime.files_errors import explained

LIVELOCK_MODE = 0o600
#: What a livelock is called until it is locked, and for how many seconds that may last.
_UNNAMED = ".new"
UNNAMED_LIMIT = 60.0
_PURPOSE = re.compile(r"[a-z0-9][a-z0-9_-]*")


class ILiveness(Interface):
    """Tells living processes from dead ones, by the path of their livelock."""

    def is_alive(path: Path) -> bool:
        """Whether the process that locked the file still lives; a file that is missing belongs to a dead one.

        @raise OSError: the question could not be answered (such as EACCES); that is not a death.
        """

    def remove_stale(directory: Path) -> list[Path]:
        """Remove the livelocks of dead processes and return them.

        A file that got no name yet is removed when it is old: its process died before it had locked and named it.
        """


def create_livelock(directory: Path, purpose: str, now: Callable[[], float]) -> HeldFile:
    """A new livelock named PURPOSE_PID_TIME, such as "job-17_4711_1300000000.250000".

    The file gets its name only once it is locked, so nobody ever sees it unlocked while this process lives.
    Once it is released, others take this process for dead.
    The descriptor is not inherited by programs this process starts; a forked child must close it.
    """
    if not _PURPOSE.fullmatch(purpose):
        raise ValueError(f"not the purpose of a livelock: {purpose!r}")
    name = f"{purpose}_{os.getpid()}_{now():.6f}"
    unnamed = directory / f".{name}{_UNNAMED}"
    try:
        descriptor = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, LIVELOCK_MODE)
    except OSError as failure:
        raise explained(failure, directory / name) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unnamed.rename(directory / name)
    except BaseException:
        unnamed.unlink(missing_ok=True)
        os.close(descriptor)
        raise
    return HeldFile(directory / name, descriptor)


@implementer(ILiveness)
@frozen
class FlockLiveness:
    """Asks the kernel."""

    def is_alive(self, path: Path) -> bool:
        """See `ILiveness`."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: others who ask do not look like life
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def remove_stale(self, directory: Path) -> list[Path]:
        """See `ILiveness`."""
        stale = [path for path in sorted(directory.iterdir()) if _is_old(path) and not self.is_alive(path)]
        for path in stale:
            path.unlink(missing_ok=True)
        return stale


def _is_old(path: Path) -> bool:
    """Whether a file in the livelock directory is a livelock: one with a name, or one that never got a name."""
    if not path.name.startswith("."):
        return path.is_file()
    try:
        return path.name.endswith(_UNNAMED) and time.time() - path.lstat().st_mtime > UNNAMED_LIMIT
    except FileNotFoundError:
        return False
