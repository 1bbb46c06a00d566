"""Livelocks: a file that its process holds locked for as long as it lives (daemons.txt, Job death detection)."""

import fcntl
import os
from pathlib import Path

from attrs import define
from zope.interface import Interface, implementer

FILE_MODE = 0o640
DIRECTORY_MODE = 0o750


@define
class Livelock:
    """One held livelock; closing it, or the end of the process, frees it."""

    path: Path
    _descriptor: int

    def close(self) -> None:
        """Remove the file and let go."""
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)


def create_livelock(directory: Path, purpose: str, now: float) -> Livelock:
    """Make and lock a new livelock; its name tells whose it is. @raise OSError: the directory refuses."""
    directory.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    path = directory / f"{purpose}_{os.getpid()}_{int(now * 1000)}"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return Livelock(path, descriptor)


class ILiveness(Interface):
    """Tells the living from the dead."""

    def is_alive(livelock: str) -> bool:
        """Whether the process that holds this livelock lives."""

    def remove(livelock: str) -> None:
        """Remove the livelock of a dead process."""


@implementer(ILiveness)
@define
class FileLiveness:
    """Asks the kernel, with a shared lock that is let go at once, so that many daemons can ask at a time."""

    directory: Path

    def is_alive(self, livelock: str) -> bool:
        """As ILiveness says; a file outside the livelock directory is nobody's."""
        path = Path(livelock)
        if path.parent != self.directory:
            return False
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def remove(self, livelock: str) -> None:
        """As ILiveness says."""
        if Path(livelock).parent == self.directory and not self.is_alive(livelock):
            Path(livelock).unlink(missing_ok=True)

    def remove_stale(self) -> int:
        """Remove every livelock that nobody holds; gives how many there were."""
        stale = [path for path in self.directory.glob("*") if not self.is_alive(str(path))]
        for path in stale:
            path.unlink(missing_ok=True)
        return len(stale)
