"""Following the files: a new configuration or key is read beside the requests, which go on with what is there."""

from typing import Any

from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.confd.answers import NoAnswers
from ganeti_tx.confd.protocol import Present
from ganeti_tx.confd.sources import NO_CANDIDATE, Sources
from ganeti_tx.confd.watched_file import Gone
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.runtime.threads import IThreads

log = Logger()

#: Seconds between two readings at least; changes in between are read together (Ganeti 3.0 confd table).
READ_INTERVAL = 0.25
#: Seconds after which the files are looked at though nothing was heard of them (as there).
LOOK_INTERVAL = 17.0


@define
class Following:
    """Keeps `present` as new as the files, from `start` to `stop`. What cannot be read leaves what was there before."""

    sources: Sources
    present: Present
    threads: IThreads
    clock: IReactorTime
    watch: IFileWatch
    _call: Any = field(default=None, init=False)
    _reading: "Deferred[None] | None" = field(default=None, init=False)
    _changed: bool = field(default=False, init=False)
    _earliest: float = field(default=0.0, init=False)

    def start(self) -> None:
        """Read what changes from now on, and what has changed since it was read first."""
        paths = (self.sources.config.path, self.sources.key.path, self.sources.others.path)
        names = {path.name for path in paths}

        def changed(name: str) -> None:
            if name in names:
                self._heard()

        for directory in {path.parent for path in paths}:
            self.watch.watch(directory, changed)
        self._call = self.clock.callLater(0, self._look)

    def stop(self) -> None:
        """Read nothing any more."""
        self.watch.stop()
        if self._call is not None:
            self._call.cancel()
        if self._reading is not None:
            self._reading.cancel()

    def _heard(self) -> None:
        self._changed = True
        if self._call is not None:
            self._call.reset(max(0.0, self._earliest - self.clock.seconds()))

    def _look(self) -> None:
        self._call, self._changed = None, False
        self._reading = Deferred.fromCoroutine(self._read())
        self._reading.addCallbacks(lambda _: self._later(), self._failed)

    def _failed(self, failure: Failure) -> None:
        if failure.check(CancelledError) is None:  # else it was stopped
            log.failure("the files of before are kept", failure)
            self._later()

    def _later(self) -> None:
        self._reading = None
        self._earliest = self.clock.seconds() + READ_INTERVAL
        self._call = self.clock.callLater(READ_INTERVAL if self._changed else LOOK_INTERVAL, self._look)

    async def _read(self) -> None:
        slow = self.clock.callLater(LOOK_INTERVAL, log.warn, "reading the configuration takes long")
        try:
            await self._read_key()
            await self._read_config()
        finally:
            if slow.active():
                slow.cancel()

    async def _read_key(self) -> None:
        try:
            others = await self.threads.run(self.sources.newer_others)
            if others is not None:
                self.present.others = others
        except ConfigurationError as error:
            log.error("the keys that were accepted besides are kept: {error}", error=str(error))
        try:
            key = await self.threads.run(self.sources.key.newer)
        except ConfigurationError as error:
            log.error("the key of before is kept: {error}", error=str(error))
        else:
            if key is not None:
                self.present.key = key

    async def _read_config(self) -> None:
        try:
            answers = await self.threads.run(self.sources.config.newer)
        except Gone as error:
            log.warn("requests are answered with errors: {error}", error=str(error))
            self.present.answers = NoAnswers(NO_CANDIDATE)
        except ConfigurationError as error:
            log.error("the configuration of before is kept: {error}", error=str(error))
        else:
            if answers is not None:
                if isinstance(self.present.answers, NoAnswers):
                    log.info("{path} can be read: requests are answered", path=str(self.sources.config.path))
                self.present.answers = answers
