"""What the cluster keeps on every node: uploaded files and simple configuration, and how a node forgets it all."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePath

from attrs import define, field
from twisted.internet.defer import DeferredLock

from ganeti_tx.errors import ConfigurationError, ProgrammerError
from ganeti_tx.mastership.ballot import SSCONF_SERIAL, ssconf_serial
from ganeti_tx.model.config_head import read_head
from ganeti_tx.model.node_files import FILES, RAPI_USERS, Holder, NodeFile
from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.answers import answers
from ganeti_tx.node.job_copies import JobCopies
from ganeti_tx.node.ssh_files import forget_ssh
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.cluster import (
    ListedFile,
    ReadListedFile,
    UploadFile,
    WriteListedFile,
    WriteRapiFiles,
    WriteSsconfFiles,
)
from ganeti_tx.rpc.calls.node import NodeDemoteFromMc
from ganeti_tx.rpc.calls.queue import JobqueuePurge
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.listed_files import listed_place, read_listed
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.rapi_files import MAX_RAPI_FILE, rapi_paths, write_record
from ganeti_tx.runtime.ssconf_files import write_ssconf

SSCONF_KEY = re.compile(r"[a-z0-9_-]{1,100}")
MAX_SSCONF = 16 * 1024 * 1024


@define
class ClusterFiles:
    """Takes in what the master sends; an older configuration or serial never replaces a newer one."""

    files: IFiles
    paths: Paths
    uploads: Mapping[str, int]
    own_name: str
    terms: Terms
    queue: JobCopies
    #: Told of each simple configuration that was taken, even when the disk did not take it.
    sent: Callable[[Mapping[str, str]], None] = lambda _values: None
    #: Term and serial number of the files of rapi/ that were taken last. Kept in memory: what was on its way to a daemon
    #: that was restarted went with its connection.
    _rapi_files: tuple[int, int] = (0, 0)
    _lock: DeferredLock = field(factory=DeferredLock)

    @answers(UploadFile)
    async def upload(self, call: UploadFile) -> None:
        """Write a file that is on the list, with the mode that the list says.

        `path` is the path on a node whose root is "/".
        """
        mode = self.uploads.get(call.path)
        if mode is None:
            raise ProgrammerError(f"{call.path} is not a file that the cluster distributes")
        if call.serial is None and call.path == str(Paths().config_file):
            raise ProgrammerError(f"{call.path} needs its serial number, so that no older one replaces a newer one")
        path = self.paths.root / call.path.lstrip("/")
        await self._lock.acquire()
        try:
            await self._admit(call.stamp)
            if call.serial is not None and call.serial < self._least(path, call.stamp):
                raise ConfigurationError(f"{call.path} here is newer than serial number {call.serial}; it was kept")
            await self.files.write_atomic(path, call.data, mode)
            if path == self.paths.config_file:
                await self.terms.written("config", call.stamp)
        finally:
            self._lock.release()

    @answers(WriteListedFile)
    async def write_listed(self, call: WriteListedFile) -> None:
        """Write it. @raise ProgrammerError: it is none that may be sent."""
        try:
            path = listed_place(self.files, self.paths, call.path)
        except ValueError as error:
            raise ProgrammerError(f"{call.path!r} cannot be written here: {error}") from None
        await self._lock.acquire()
        try:
            await self._admit(call.stamp)
            self.files.mkdir(path.parent)
            await self.files.write_atomic(path, call.data, call.mode & 0o777)
        finally:
            self._lock.release()

    @answers(ReadListedFile)
    async def read_listed(self, call: ReadListedFile) -> ListedFile:
        """As it is here. @raise ConfigurationError: it cannot be sent, or cannot be read."""
        await self._lock.acquire()
        try:
            await self._admit(call.stamp)
            data, mode = read_listed(self.files, self.paths, call.path, call.room)
            return ListedFile(data=data, mode=mode)
        except (OSError, ValueError) as error:
            raise ConfigurationError(getattr(error, "strerror", None) or str(error)) from None
        finally:
            self._lock.release()

    async def _admit(self, stamp: Stamp | None) -> None:
        """Take note of the sender. Before a new term's first message is taken, what came before has been done.

        Else a slow disk writes a former master's copy of a job over what the node makes of it once it is the master.
        @raise ConfigurationError: as `Terms.admit`.
        """
        if await self.terms.admit(stamp):
            await self.queue.when_idle()

    def _least(self, path: Path, stamp: Stamp | None) -> int:
        """No older configuration than this is taken: not when simple configuration made from it is here either.

        A node that ceased to be a candidate has that one only; what was sent before, and comes late, is nothing for it.
        """
        present = self._present_serial(path, stamp)
        if path != self.paths.config_file or not self.terms.is_of_this_term("ssconf", stamp):
            return present
        return max(present, ssconf_serial(self.files, self.paths))

    def _present_serial(self, path: Path, stamp: Stamp | None) -> int:
        """The serial number of the configuration that is here; -1 when there is none that counts.

        None counts that is another cluster's, or was written under a master before the one that sends.
        """
        if not self.files.exists(path):
            return -1
        head = read_head(self.files.read(path, UploadFile.max_request))
        if head is None:
            return -1
        if stamp is not None and head.cluster.uuid != stamp.cluster:
            return -1
        if not self.terms.is_of_this_term("config", stamp):
            return -1
        return head.serial_no

    @answers(WriteSsconfFiles)
    async def write_ssconf(self, call: WriteSsconfFiles) -> None:
        """Write every key whose file does not hold the value already; older values than those here are refused."""
        for key, value in call.values.items():
            if not SSCONF_KEY.fullmatch(key) or len(value) > MAX_SSCONF:
                raise ConfigurationError(f"not simple configuration: key {key[:60]!r} with {len(value)} characters")
        serial = {} if call.serial is None else {SSCONF_SERIAL: str(call.serial)}
        await self._lock.acquire()
        try:
            await self._admit(call.stamp)
            comparable = self.terms.is_of_this_term("ssconf", call.stamp)
            if comparable and call.serial is not None and call.serial < ssconf_serial(self.files, self.paths):
                raise ConfigurationError(f"simple configuration here is newer than serial {call.serial}; it was kept")
            try:
                await write_ssconf(self.files, self.paths, {**call.values, **serial})
            finally:
                self.sent(call.values)
            await self.terms.written("ssconf", call.stamp)
        finally:
            self._lock.release()

    @answers(WriteRapiFiles)
    async def write_rapi_files(self, call: WriteRapiFiles) -> None:
        """Write those that differ, and remove what the master does not have."""
        places = rapi_paths(self.paths)
        if strange := call.files.keys() - places.keys():
            raise ProgrammerError(f"{min(strange)[:60]!r} is not a file of rapi/; they are {', '.join(places)}")
        if large := [name for name, data in call.files.items() if len(data) > MAX_RAPI_FILE]:
            raise ProgrammerError(f"rapi/{large[0]} is larger than {MAX_RAPI_FILE} bytes")
        version = (0 if call.stamp is None else call.stamp.term, call.serial)
        await self._lock.acquire()
        try:
            await self._admit(call.stamp)
            if version < self._rapi_files:
                raise ConfigurationError(f"the files of rapi/ here are newer than serial number {call.serial}; kept")
            self._rapi_files = version
            changed = {places[name]: data for name, data in call.files.items() if not self._holds(places[name], data)}
            if changed:
                self.files.mkdir(self.paths.rapi_dir)
                await self.files.write_many(changed, RAPI_USERS.mode)
            for name in places.keys() - call.files.keys():
                if self.files.exists(places[name]):
                    self.files.remove(places[name])
            await write_record(self.files, self.paths, call.files)
        finally:
            self._lock.release()

    def _holds(self, path: Path, data: bytes) -> bool:
        try:
            return self.files.read(path, len(data)) == data
        except OSError:
            return False

    @answers(NodeDemoteFromMc)
    async def demote(self, call: NodeDemoteFromMc) -> None:
        """Remove what only master candidates have besides the job queue."""
        path = self.paths.ssconf_file("master_node")
        if self.files.exists(path) and self.files.read(path, MAX_SSCONF).decode().strip() == self.own_name:
            raise ConfigurationError(f"node {self.own_name} is the master, which keeps the configuration")
        await self._lock.acquire()
        try:
            await self._admit(call.stamp)
            self._remove([file for file in FILES if file.held_by is Holder.CANDIDATES])
        finally:
            self._lock.release()

    async def forget_cluster(self) -> None:
        """Remove configuration, queue, ssconf and every key of the cluster."""
        await self.queue.purge(JobqueuePurge())
        if self.files.exists(lock := self.paths.queue_lock_file):  # of when it was the master
            self.files.remove(lock)
        await forget_ssh(self.files, self.paths)
        self.forget_files()

    def forget_files(self) -> None:
        """Remove the files alone that are declared to be the cluster's. @raise OSError"""
        self._remove([file for file in FILES if file.of_cluster])

    def _remove(self, declared: Iterable[NodeFile]) -> None:
        """In their order; what is not there is gone already."""
        for file in declared:
            path = self.paths.of(file)
            names = self.files.listdir(path.parent) if file.is_family else [path.name]
            for name in names:
                if file.is_at(f"{PurePath(file.path).parent}/{name}") and self.files.exists(path.parent / name):
                    self.files.remove(path.parent / name)
