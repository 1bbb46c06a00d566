"""The time until which the watcher leaves the cluster alone, kept in a file."""

from collections.abc import Callable

from attrs import define

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_retry import in_place
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.watcher_pause import pause_end

FILE_MODE = 0o644
MAX_FILE = 1024


@define
class WatcherPause:
    """Set on the master; a pause that is over is none."""

    files: IFiles
    paths: Paths
    now: Callable[[], float]

    def get(self) -> float | None:
        """The end of the pause, in seconds since the epoch."""
        path = self.paths.watcher_pause_file
        if not self.files.exists(path):
            return None
        return pause_end(self.files.read(path, MAX_FILE).decode("ascii", "replace"), self.now())

    async def set(self, end: float | None) -> float | None:
        """Pause until then, or not any more. @raise OpPrereqError: that time has passed."""
        path = self.paths.watcher_pause_file
        if end is None:
            if self.files.exists(path):
                self.files.remove(path)
        elif end < self.now():
            raise OpPrereqError(f"the watcher cannot be paused until {end:.0f}: that time has passed", ECode.INVAL)
        else:
            await in_place(self.files.write_atomic(path, f"{end}\n".encode(), FILE_MODE))
        return end
