"""State that is kept in a file for a restart: written when it changed, changes that arrive together in one write."""

from collections.abc import Callable
from pathlib import Path

import attrs
from twisted.internet.defer import Deferred
from twisted.logger import Logger

from ganeti_tx.runtime.files import IFiles

#: Not more than its owner reads and writes: the names of locks and livelocks are nobody else's business.
MODE = 0o600


@attrs.define(eq=False)
class Mirror:
    """A write that fails is logged and repeated with the next change: locking must go on when a disk is full.

    The file is not synced to the disk: it matters when this process restarts, and a machine that restarts has no jobs.
    """

    _files: IFiles
    _path: Path
    _content: Callable[[], bytes]
    _log: Logger = attrs.field(factory=Logger, init=False)
    _dirty: bool = attrs.field(default=False, init=False)
    _busy: bool = attrs.field(default=False, init=False)
    _waiting: list[Deferred[None]] = attrs.field(factory=list, init=False)

    def changed(self) -> None:
        """The state is another now."""
        self._dirty = True
        if not self._busy:
            self._busy = True
            Deferred.fromCoroutine(self._write())

    async def saved(self) -> None:
        """Waits until what is so now is in the file, or could not be written."""
        if self._busy:
            done: Deferred[None] = Deferred()
            self._waiting.append(done)
            await done

    async def _write(self) -> None:
        while self._dirty or self._waiting:
            self._dirty = False
            waiting, self._waiting = self._waiting, []
            try:
                await self._files.write_atomic(self._path, self._content(), MODE, sync=False)
            except OSError as error:
                self._log.error("cannot write {path}: {reason}", path=str(self._path), reason=error.strerror)
            for each in waiting:
                each.callback(None)
        self._busy = False
