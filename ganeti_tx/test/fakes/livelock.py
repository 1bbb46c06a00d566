"""The lives of processes that are only simulated."""

from pathlib import Path

from zope.interface import implementer

from ganeti_tx.runtime.livelock import ILiveness


@implementer(ILiveness)
class FakeLiveness:
    """A process lives from `start` to `die`."""

    def __init__(self) -> None:
        self._alive: dict[Path, bool] = {}

    def start(self, path: Path) -> Path:
        """A process comes to life; returns its livelock."""
        self._alive[path] = True
        return path

    def die(self, path: Path) -> None:
        """It dies and leaves its livelock behind."""
        self._alive[path] = False

    def is_alive(self, path: Path) -> bool:
        """See `ILiveness`."""
        return self._alive.get(path, False)

    def living(self) -> list[Path]:
        """The livelocks of all who live. For tests."""
        return [path for path, alive in self._alive.items() if alive]

    def remove_stale(self, directory: Path) -> list[Path]:
        """See `ILiveness`."""
        stale = sorted(path for path, alive in self._alive.items() if path.parent == directory and not alive)
        for path in stale:
            del self._alive[path]
        return stale
