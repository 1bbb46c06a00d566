"""The files that a simulated daemon holds: logs, and those that it has locked."""

from collections.abc import Callable, Sequence
from pathlib import Path

from attrs import define, field, frozen

from ganeti_tx.errors import LockError


@define
class MemoryLog:
    """The log of an OS script whose output nobody wrote."""

    path: Path
    descriptor: int = -1

    def tail(self) -> str:
        """Nothing."""
        return ""

    def hide(self, values: Sequence[str]) -> None:
        """Nothing is there."""

    def close(self) -> None:
        """Nothing is open."""


@define
class MemoryLocks:
    """The files that a daemon holds locked."""

    _held: set[Path] = field(factory=set)

    def hold(self, path: Path, mode: int) -> "MemoryLock":
        """As `file_lock.hold`."""
        if path in self._held:
            raise LockError(f"{path} is locked by another process")
        self._held.add(path)
        return MemoryLock(lambda: self._held.discard(path))


@frozen
class MemoryLock:
    """One of them."""

    release: Callable[[], None]
