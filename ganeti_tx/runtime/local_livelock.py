"""Liveness on one host: a livelock named in a job file that came from another node is nobody's here."""

from pathlib import Path

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.runtime.livelock import ILiveness


@implementer(ILiveness)
@frozen
class LocalLiveness:
    """Takes for dead whatever does not lie in this host's own livelock directory."""

    liveness: ILiveness
    directory: Path

    def is_alive(self, path: Path) -> bool:
        """See `ILiveness`."""
        return path.parent == self.directory and self.liveness.is_alive(path)

    def remove_stale(self, directory: Path) -> list[Path]:
        """See `ILiveness`."""
        return self.liveness.remove_stale(directory)
