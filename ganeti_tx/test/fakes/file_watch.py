"""Changes in memory."""

from collections.abc import Callable
from pathlib import Path

from zope.interface import implementer

from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.test.fakes.files import Listener, MemoryFiles


@implementer(IFileWatch)
class MemoryFileWatch:
    """Tells of each change in a `MemoryFiles`, at once."""

    def __init__(self, files: MemoryFiles) -> None:
        self._files = files
        self._listeners: list[Listener] = []

    def watch(self, directory: Path, changed: Callable[[str], None]) -> None:
        """See `IFileWatch`."""
        self._files.stat(directory)

        def listener(path: Path) -> None:
            if path.parent == directory:
                changed(path.name)

        self._listeners.append(listener)
        self._files.listeners.append(listener)

    def stop(self) -> None:
        """See `IFileWatch`."""
        for listener in self._listeners:
            self._files.listeners.remove(listener)
        self._listeners.clear()
