"""Hearing of changed files without polling."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet import inotify
from twisted.internet.interfaces import IReactorFDSet
from twisted.python.filepath import FilePath
from zope.interface import Interface, implementer

from ganeti_tx.runtime.files_leftovers import is_temporary

#: What counts as a change: a file is written whole, moved here or away, or removed.
EVENTS = inotify.IN_CLOSE_WRITE | inotify.IN_MOVED_TO | inotify.IN_MOVED_FROM | inotify.IN_DELETE


class IFileWatch(Interface):
    """Tells of files that change in a directory."""

    def watch(directory: Path, changed: Callable[[str], None]) -> None:
        """Call `changed` with the name of each file that is written, replaced, moved or removed from now on.

        Temporary files of writes under way are not told of. @raise FileNotFoundError: no such directory.
        """

    def stop() -> None:
        """Watch nothing any more."""


@implementer(IFileWatch)
@define
class InotifyWatch:
    """As Linux tells it."""

    reactor: IReactorFDSet
    _inotify: list[Any] = field(factory=list)

    def watch(self, directory: Path, changed: Callable[[str], None]) -> None:
        """As IFileWatch says."""
        if not directory.is_dir():
            raise FileNotFoundError(f"cannot watch {directory}: no such directory")

        def tell(_watch: object, path: FilePath[bytes] | FilePath[str], _mask: int) -> None:
            name = os.fsdecode(path.basename())  # Twisted gives bytes here
            if not is_temporary(name):
                changed(name)

        notifier = inotify.INotify(self.reactor)
        notifier.startReading()
        notifier.watch(FilePath(str(directory)), mask=EVENTS, callbacks=[tell])
        self._inotify.append(notifier)

    def stop(self) -> None:
        """As IFileWatch says."""
        for notifier in self._inotify:
            notifier.loseConnection()
        self._inotify.clear()
