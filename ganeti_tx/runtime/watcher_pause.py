"""The file by which the watcher of a node is paused: it holds the end, in seconds since the epoch."""

import math
from collections.abc import Callable

from attrs import frozen

from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_retry import in_place
from ganeti_tx.runtime.path_modes import FILE_MODES
from ganeti_tx.runtime.paths import Paths

MODE = FILE_MODES["/var/lib/ganeti/watcher.pause"].mode
MAX_FILE = 1024


def pause_end(text: str, now: float) -> float | None:
    """The end of the pause; None when there is none, or it is over."""
    try:
        end = float(text)
    except ValueError:
        return None
    return end if math.isfinite(end) and end > now else None


@frozen
class PauseFile:
    """Read and written by the daemons."""

    files: IFiles
    paths: Paths
    #: Seconds since the epoch.
    now: Callable[[], float]

    def get(self) -> float | None:
        """As `pause_end`."""
        path = self.paths.watcher_pause_file
        if not self.files.exists(path):
            return None
        return pause_end(self.files.read(path, MAX_FILE).decode("ascii", "replace"), self.now())

    async def set(self, end: float | None) -> None:
        """Pause until then, or not any more."""
        path = self.paths.watcher_pause_file
        if end is not None:
            await in_place(self.files.write_atomic(path, f"{end}\n".encode(), MODE))
        elif self.files.exists(path):
            self.files.remove(path)
