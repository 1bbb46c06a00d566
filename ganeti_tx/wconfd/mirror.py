"""State that is kept in a file for a restart: written when it changed, changes that arrive together in one write."""

import errno
from collections.abc import Callable
from pathlib import Path

import attrs
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.model.node_files import LOCKS
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.files_retry import in_place

#: Not more than its owner reads and writes: the names of locks and livelocks are nobody else's business.
MODE = LOCKS.mode
#: Seconds between a write that failed and the next try; doubled each time up to the second number.
FIRST_PAUSE = 0.25
LAST_PAUSE = 4.0


@attrs.define(eq=False)
class Mirror:
    """A write that fails is repeated until it succeeds; `saved` tells nobody that it did before it has.

    The file is not synced to the disk: it matters when this process restarts, and a machine that restarts has no jobs.
    """

    _files: IFiles
    _path: Path
    _content: Callable[[], bytes]
    _clock: IReactorTime
    _log: Logger = attrs.field(factory=Logger, init=False)
    _dirty: bool = attrs.field(default=False, init=False)
    _busy: bool = attrs.field(default=False, init=False)
    _problem: OSError | None = attrs.field(default=None, init=False)
    #: Who waits for the write that is under way, and who for the one after it.
    _served: list[Deferred[None]] = attrs.field(factory=list, init=False)
    _waiting: list[Deferred[None]] = attrs.field(factory=list, init=False)

    def changed(self) -> None:
        """The state is another now."""
        self._dirty = True
        if not self._busy:
            self._busy = True
            Deferred.fromCoroutine(self._write()).addErrback(
                lambda failure: self._log.failure("{path} is not written any more", failure, path=str(self._path))
            )

    async def saved(self, timeout: float | None = None) -> None:
        """Waits until what is so now is in the file.

        @param timeout: seconds; None for as long as it takes.
        @raise OSError: it was not written in that time; it will be once the disk takes it.
        """
        if not self._busy:
            return
        done: Deferred[None] = Deferred()
        (self._waiting if self._dirty else self._served).append(done)
        if timeout is not None:
            done.addTimeout(timeout, self._clock)
        try:
            await done
        except TimeoutError:
            if self._problem is not None:
                raise self._problem from None
            raise OSError(errno.ETIMEDOUT, "the disk did not take a write in time", str(self._path)) from None

    async def _write(self) -> None:
        pause = FIRST_PAUSE
        while self._busy:
            self._dirty = False
            self._served, self._waiting = self._waiting, []
            try:
                await in_place(self._files.write_atomic(self._path, self._content(), MODE, sync=False))
            except OSError as error:
                self._failed(error)
                await deferLater(self._clock, pause)
                pause = min(pause * 2, LAST_PAUSE)
                continue
            if self._problem is not None:
                self._log.info("{path} is written again", path=str(self._path))
                self._problem, pause = None, FIRST_PAUSE
            if not self._tell_served():
                return

    def _tell_served(self) -> bool:
        """Tell who waited for the write that was made; whether there is another to make.

        Who is told may ask again or change something at once: by then it must be clear that no write is under way.
        """
        served, self._served = self._served, []
        more = self._busy = self._dirty
        for each in served:
            if not each.called:
                each.callback(None)
        return more

    def _failed(self, error: OSError) -> None:
        """Nobody is told; all of it is tried again."""
        if self._problem is None:
            self._log.error("cannot write {reason}; trying again until it succeeds", reason=reason(error))
        self._problem = error
        self._dirty = True
        self._waiting = [each for each in [*self._served, *self._waiting] if not each.called]
        self._served = []
