"""Hearing of changed files also when the directory that was watched has another one in its place."""

from collections.abc import Callable
from pathlib import Path

from attrs import define, field
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger
from zope.interface import implementer

from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.runtime.files import FileStat, IFiles

log = Logger()

#: Seconds between two looks.
INTERVAL = 2.0


@implementer(IFileWatch)
@define
class StatBeside:
    """What another watch tells, at once, and what it does not see within seconds; for directories of few files."""

    watching: IFileWatch
    files: IFiles
    clock: IReactorTime
    _loops: list[LoopingCall] = field(factory=list)

    def watch(self, directory: Path, changed: Callable[[str], None]) -> None:
        """As IFileWatch says."""
        self.watching.watch(directory, changed)
        seen = self._stats(directory)

        def look() -> None:
            nonlocal seen
            before, seen = seen, self._stats(directory)
            for name in sorted(before.keys() | seen.keys()):
                if before.get(name) != seen.get(name):
                    tell(changed, name)

        loop = LoopingCall(look)
        loop.clock = self.clock
        self._loops.append(loop)
        loop.start(INTERVAL, now=False).addErrback(
            lambda failure: log.failure("{path} is not looked at any more", failure=failure, path=str(directory))
        )

    def _stats(self, directory: Path) -> dict[str, FileStat]:
        """Of each file; what cannot be looked at is not there."""
        found = {}
        try:
            names = self.files.listdir(directory)
        except OSError:
            return {}
        for name in names:
            try:
                found[name] = self.files.stat(directory / name)
            except OSError:
                continue
        return found

    def stop(self) -> None:
        """As IFileWatch says."""
        for loop in self._loops:
            if loop.running:
                loop.stop()
        self._loops.clear()
        self.watching.stop()


def tell(changed: Callable[[str], None], name: str) -> None:
    """Whatever the listener does, the looks go on."""
    try:
        changed(name)
    except Exception:  # nothing is awaited here, so no cancellation is lost
        log.failure("a listener to {name} failed", name=name)
