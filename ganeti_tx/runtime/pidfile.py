"""One daemon of a kind a node: its pid file is locked while it lives, so that a stale one never needs a hand."""

import fcntl
import os
from pathlib import Path

from attrs import define

from ganeti_tx.errors import PidFileLockError

FILE_MODE = 0o644


@define
class PidFile:
    """A held pid file."""

    path: Path
    _descriptor: int

    def close(self) -> None:
        """Remove it and let go."""
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)


def claim(path: Path, daemon: str) -> PidFile:
    """Write our process id. @raise PidFileLockError: another one runs; the text has its process id."""
    path.parent.mkdir(mode=0o775, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        other = os.read(descriptor, 32).decode("ascii", "replace").strip()
        os.close(descriptor)
        raise PidFileLockError(f"{daemon} runs already as process {other} ({path})")
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return PidFile(path, descriptor)
