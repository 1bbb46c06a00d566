"""The master's files of rapi/: each change of them is one of the configuration, so that votes tell who lacks it.

A candidate gets them before it gets the configuration to which they belong. So whoever has the newest configuration, which
a new master must have, has the newest of these files.
"""

import attrs
from msgspec.structs import replace
from twisted.internet.defer import Deferred, DeferredLock
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from ganeti_tx.config.store import ConfigStore
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.files_errors import reason
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.rapi_files import (
    RapiFiles,
    digest_of,
    read_rapi_files,
    read_record,
    stat_rapi_files,
    write_record,
)

#: Seconds between looks for files that somebody changed by hand.
INTERVAL = 2.0


@attrs.define(eq=False)
class CountedRapiFiles:
    """What of rapi/ is to be on every node. `look` takes in what changed; a clock looks, too.

    @ivar present: None as long as there never was anything.
    """

    _files: IFiles
    _paths: Paths
    _store: ConfigStore
    present: RapiFiles | None = attrs.field(default=None, init=False)
    _counted: str | None = attrs.field(default=None, init=False)
    _seen: dict[str, FileStat] | None = attrs.field(default=None, init=False)
    _taken: dict[str, FileStat] | None = attrs.field(default=None, init=False)
    _complaint: str = attrs.field(default="", init=False)
    _timer: LoopingCall | None = attrs.field(default=None, init=False)
    _lock: DeferredLock = attrs.field(factory=DeferredLock, init=False)
    _log: Logger = attrs.field(factory=Logger, init=False)

    async def load(self) -> None:
        """Take in what is there at the start; what cannot be taken in is logged, and tried again by the clock."""
        record = read_record(self._files, self._paths)
        self._counted = None if record is None else record.digest
        try:
            await self.look()
        except ConfigurationError as error:
            self._complain(str(error))

    async def look(self) -> None:
        """Take in what is there now. @raise ConfigurationError: it cannot be read, or not be counted."""
        await self._lock.acquire()
        try:
            stats = stat_rapi_files(self._files, self._paths)
            content = read_rapi_files(self._files, self._paths)
            if content or self._counted is not None:
                await self._take(content)
            self._taken = stats
        except OSError as error:
            raise ConfigurationError(f"the files of rapi/ cannot be brought to other nodes: {reason(error)}") from None
        finally:
            self._lock.release()

    async def _take(self, content: RapiFiles) -> None:
        self.present = content
        digest = digest_of(content)
        if digest != self._counted:
            await self._store.change(one_more)
            self._counted = digest
            await self._record(content)

    async def _record(self, content: RapiFiles) -> None:
        """Without a record the next start counts them once more, which harms nobody."""
        try:
            await write_record(self._files, self._paths, content)
        except OSError as error:
            self._log.warn("cannot write {reason}", reason=reason(error))

    # By the clock

    def watch(self, clock: IReactorTime) -> None:
        """See from now on what is changed by hand."""
        self._timer = LoopingCall(lambda: Deferred.fromCoroutine(self._glance()))
        self._timer.clock = clock
        looking: Deferred[LoopingCall] = self._timer.start(INTERVAL, now=False)
        looking.addErrback(lambda failure: self._log.failure("nobody looks at rapi/ any more", failure=failure))

    def stop(self) -> None:
        """Watch no more."""
        if self._timer is not None and self._timer.running:
            self._timer.stop()

    async def _glance(self) -> None:
        """Changed files are taken in once they are as they were at the glance before: one may be half written."""
        try:
            stats = stat_rapi_files(self._files, self._paths)
            settled, self._seen = stats == self._seen, stats
            if settled and stats != self._taken:
                await self.look()
            self._complaint = ""
        except OSError as error:
            self._complain(reason(error))
        except ConfigurationError as error:
            self._complain(str(error))

    def _complain(self, complaint: str) -> None:
        if complaint != self._complaint:
            self._complaint = complaint
            self._log.error("{complaint}", complaint=complaint)


def one_more(config: ConfigData, now: float) -> ConfigData:
    """The change by which the configuration says nothing new: only its serial number rises."""
    return replace(config)
