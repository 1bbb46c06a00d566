"""The one writer of config.data: changes count once they are on disk, and those that arrive together share a write."""

import time
from collections.abc import Callable

import attrs
from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.config.copies import read_own
from ganeti_tx.config.edit import Edit
from ganeti_tx.config.other_writer import OtherWriter
from ganeti_tx.config.unwritten import not_written
from ganeti_tx.errors import ConfigurationError, GanetiError
from ganeti_tx.metrics.config import SHARED_BY, WRITE, WRITE_FAILURES
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.base import touched
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, ConfigData, check_size, encode
from ganeti_tx.model.node_files import CONFIG, FORMER
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_errors import NotSynced, reason
from ganeti_tx.runtime.paths import Paths

#: Ganeti 3.0 configuration table, path modes.

#: Called with each configuration that has reached the disk, and as what text.
Listener = Callable[[ConfigData, bytes], None]


@attrs.define(eq=False)
class ConfigStore:
    """Memory and disk agree: `snapshot` is what the file holds, and a change that cannot be written did not happen.

    A write whose file is in place, but whose directory could not be synced, counts: everybody who reads the file sees
    it. It is repeated once; if that does not help, the next write makes it good (doc/design/disk-faults.rst).
    """

    _files: IFiles
    _paths: Paths
    _now: Callable[[], float]
    _tally: Tally = attrs.field(factory=Tally, kw_only=True)
    #: Seconds of a clock that nobody sets.
    _ticks: Callable[[], float] = attrs.field(default=time.monotonic, kw_only=True)
    _log: Logger = attrs.field(factory=Logger, init=False)
    _on_disk: ConfigData | None = attrs.field(default=None, init=False)
    _next: ConfigData | None = attrs.field(default=None, init=False)
    _waiting: list[Deferred[ConfigData]] = attrs.field(factory=list, init=False)
    _served: list[Deferred[ConfigData]] = attrs.field(factory=list, init=False)
    _busy: bool = attrs.field(default=False, init=False)
    _other: OtherWriter = attrs.field(init=False)
    _listeners: list[Listener] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        self._other = OtherWriter(self._files, self._paths)

    async def load(self) -> None:
        """Read the file; one of an older version is upgraded and written back, and stays beside it.

        @raise ConfigurationError: it is not there, cannot be read, or is wrong. @raise ConfigVersionMismatch: it is of
            a later version.
        """
        path = self._paths.config_file
        try:
            read = read_own(self._files, self._paths)
        except FileNotFoundError:
            raise ConfigurationError(
                f"this node is not part of a cluster: no {path}; create a cluster with 'gnt-cluster init', or add this "
                "node to one with 'gnt-node add' on its master"
            ) from None
        self._on_disk = self._next = read.config
        self._other.remember()
        if read.upgraded:
            self._log.info("upgraded {path} from version {version}", path=str(path), version=read.version)
            if read.dropped:
                self._log.warn("no version knows these keys of {path}: {keys}", path=str(path), keys=read.dropped[:20])
            await self._keep_former(str(read.version))
            await self._written()

    async def _keep_former(self, version: str) -> None:
        path = self._paths.config_file
        try:
            data = self._files.read(path, MAX_CONFIG_BYTES)
            former = path.with_name(FORMER.pattern.replace("*", path.name, 1).replace("*", version))
            await self._files.write_atomic(former, data, FORMER.mode)
        except OSError as error:
            raise not_written(reason(error)) from None

    @property
    def snapshot(self) -> ConfigData:
        """What is on disk. @raise ConfigurationError: nothing was loaded."""
        if self._on_disk is None:
            raise ConfigurationError(f"{self._paths.config_file} has not been read")
        return self._on_disk

    @property
    def newest(self) -> ConfigData:
        """With the changes that are under way to the disk: what must not be given away twice is looked up here."""
        return self._next or self.snapshot

    def subscribe(self, listener: Listener) -> None:
        """Call the listener after each write from now on."""
        self._listeners.append(listener)

    async def change(self, edit: Edit) -> ConfigData:
        """Edit the newest state; done when it is on disk, with the configuration as it was written.

        Who stops waiting does not take the change back.

        @raise ConfigurationError: it was refused, or could not be written; nothing was changed. Who is refused can read
            why: what was changed before is on disk by then.
        """
        newest = self.newest
        try:
            changed = edit(newest, self._now())
        except GanetiError:
            if under_way := self._waiting or self._served:
                await self._settled(under_way[-1])
            raise
        if changed is newest and not self._busy:
            return newest
        self._next = changed
        return await self._written()

    def _written(self) -> Deferred[ConfigData]:
        """Fires when what is newest now is on disk."""
        waiting: Deferred[ConfigData] = Deferred()
        self._waiting.append(waiting)
        if not self._busy:
            self._busy = True
            Deferred.fromCoroutine(self._write_all()).addErrback(self._failed)
        return waiting

    def _settled(self, under_way: Deferred[ConfigData]) -> Deferred[None]:
        """Fires when a change that is under way to the disk is there, or could not be written."""
        settled: Deferred[None] = Deferred()

        def over(result: ConfigData | Failure) -> ConfigData | Failure:
            settled.callback(None)
            return result

        under_way.addBoth(over)
        return settled

    async def _write_all(self) -> None:
        while self._waiting:
            self._served, self._waiting = self._waiting, []
            writing = self._next = touched(self.newest, self._now())
            if (why := self._other.reason_not_to_write(writing)) is not None:
                self._fall_back(f"{self._paths.config_file}: {why}")
                continue
            begun = self._ticks()
            try:
                data = encode(writing)
                check_size(data)
                await self._write(data)
            except OSError as error:
                self._tally.count(WRITE_FAILURES)
                self._fall_back(reason(error) if error.filename else f"{self._paths.config_file}: {reason(error)}")
                continue
            except (ConfigurationError, TypeError, ValueError) as error:  # too long, or something in it cannot be JSON
                self._fall_back(f"{self._paths.config_file}: {error}")
                continue
            self._tally.observe(WRITE, self._ticks() - begun)
            self._tally.observe(SHARED_BY, len(self._served))
            self._on_disk = writing
            self._other.remember()
            for listener in self._listeners:
                self._tell(listener, writing, data)
            served, self._served = self._served, []
            for each in served:
                each.callback(writing)
        self._busy = False

    async def _write(self, data: bytes) -> None:
        """@raise OSError: the file is as it was."""
        path = self._paths.config_file
        try:
            await self._files.write_atomic(path, data, CONFIG.mode)
        except NotSynced as error:
            self._log.error("{reason}; writing it once more", reason=reason(error))
            try:
                await self._files.write_atomic(path, data, CONFIG.mode)
            except OSError as again:
                self._log.error("{reason}; the next change is written anew", reason=reason(again))

    def _tell(self, listener: Listener, written: ConfigData, data: bytes) -> None:
        """Whatever a listener does, the change was made and its caller is told so."""
        try:
            listener(written, data)
        except Exception:  # nothing is awaited here, so no cancellation is lost
            self._log.failure("a listener to the configuration failed")

    def _failed(self, failure: Failure) -> None:
        self._busy = False
        self._fall_back(f"{self._paths.config_file}: internal error")
        self._log.failure("the writer of the configuration failed", failure=failure)

    def _fall_back(self, why: str) -> None:
        """Back to what is on disk; what was changed since was built on what could not be written, and fails too."""
        self._next = self._on_disk
        refused, self._served, self._waiting = [*self._served, *self._waiting], [], []
        self._log.error("cannot write {why}", why=why)
        for each in refused:
            each.errback(not_written(why))
