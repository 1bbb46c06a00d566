"""What the cluster keeps on every node: uploaded files, ssconf, copies of the job queue, and how a node forgets it all."""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from attrs import define, field
from twisted.internet.defer import DeferredLock

from ganeti_tx.errors import ConfigurationError, JobQueueError, ProgrammerError
from ganeti_tx.mastership.own_ballot import SSCONF_SERIAL
from ganeti_tx.node.dispatch import Method
from ganeti_tx.node.queue_copies import purge, sweep
from ganeti_tx.rpc.calls import (
    JobqueuePurge,
    JobqueueRename,
    JobqueueSetDrainFlag,
    JobqueueSweep,
    JobqueueUpdate,
    NodeCall,
    NodeDemoteFromMc,
    UploadFile,
    WriteSsconfFiles,
)
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.ssconf_files import write_ssconf

JOB_FILE = re.compile(r"job-[0-9]{1,19}")
QUEUE_FILE = re.compile(r"job-[0-9]{1,19}|serial|version")
ARCHIVED_FILE = re.compile(r"archive/[0-9]{1,19}/job-[0-9]{1,19}")
SERIAL = re.compile(r"[0-9]{1,19}\n?")
SSCONF_KEY = re.compile(r"[a-z0-9_-]{1,100}")
MAX_SSCONF = 16 * 1024 * 1024
JOB_MODE = 0o640


class _ConfigHead(msgspec.Struct, frozen=True):
    """As much of a configuration as tells which of two is newer."""

    serial_no: int


@define
class ClusterFiles:
    """Takes in what the master sends; an older configuration or serial never replaces a newer one."""

    files: IFiles
    paths: Paths
    uploads: Mapping[str, int]
    own_name: str
    _turn: DeferredLock = field(factory=DeferredLock)

    def table(self) -> Mapping[type[NodeCall], Method]:
        """Which call is which method."""
        return {
            UploadFile: self.upload,
            WriteSsconfFiles: self.write_ssconf,
            JobqueueUpdate: self.update_queue,
            JobqueueRename: self.rename_jobs,
            JobqueueSweep: self.sweep_queue,
            JobqueuePurge: self.purge_queue,
            JobqueueSetDrainFlag: self.set_drain_flag,
            NodeDemoteFromMc: self.demote,
        }

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
        await self._turn.acquire()
        try:
            if call.serial is not None and call.serial < self._present_serial(path):
                raise ConfigurationError(f"{call.path} here is newer than serial number {call.serial}; it was kept")
            await self.files.write_atomic(path, call.data, mode)
        finally:
            self._turn.release()

    def _present_serial(self, path: Path) -> int:
        """The serial number of the configuration that is here; -1 when there is none that can be read."""
        if not self.files.exists(path):
            return -1
        try:
            return msgspec.json.decode(self.files.read(path, UploadFile.max_request), type=_ConfigHead).serial_no
        except (msgspec.DecodeError, msgspec.ValidationError):
            return -1

    async def write_ssconf(self, call: WriteSsconfFiles) -> None:
        """Write every key whose file does not hold the value already."""
        for key, value in call.values.items():
            if not SSCONF_KEY.fullmatch(key) or len(value) > MAX_SSCONF:
                raise ConfigurationError(f"not simple configuration: key {key[:60]!r} with {len(value)} characters")
        serial = {} if call.serial is None else {SSCONF_SERIAL: str(call.serial)}
        await write_ssconf(self.files, self.paths, {**call.values, **serial})

    async def update_queue(self, call: JobqueueUpdate) -> None:
        """Write copies of job files and of the serial number."""
        for name, data in call.files:
            if not QUEUE_FILE.fullmatch(name):
                raise JobQueueError(f"not a file of the job queue: {name[:60]!r}")
            if name == "serial" and not SERIAL.fullmatch(data):
                raise JobQueueError(f"not a serial number: {data[:60]!r}")
        await self._turn.acquire()
        try:
            wanted = {
                self.paths.queue_dir / name: data.encode()
                for name, data in call.files
                if name != "serial" or int(data) >= self._present_job_serial()
            }
            if wanted:
                await self.files.write_many(wanted, JOB_MODE)
        finally:
            self._turn.release()

    def _present_job_serial(self) -> int:
        """The serial number that is here; -1 when there is none that can be read."""
        path = self.paths.queue_serial_file
        if not self.files.exists(path):
            return -1
        digits = self.files.read(path, 64).decode("ascii", "replace")
        return int(digits) if SERIAL.fullmatch(digits) else -1

    async def rename_jobs(self, call: JobqueueRename) -> None:
        """Move copies of job files to the archive."""
        for old, new in call.renames:
            if not JOB_FILE.fullmatch(old) or not ARCHIVED_FILE.fullmatch(new):
                raise JobQueueError(f"cannot rename {old[:60]!r} to {new[:60]!r} in the job queue")
        for old, new in call.renames:
            source = self.paths.queue_dir / old
            if self.files.exists(source):
                self.files.rename(source, self.paths.queue_dir / new)

    async def purge_queue(self, call: JobqueuePurge) -> None:
        """Remove every copy of a job, archived ones too, the serial number and the drain flag."""
        purge(self.files, self.paths)

    async def sweep_queue(self, call: JobqueueSweep) -> None:
        """Archive the copies of jobs that the master has not among its live ones any more."""
        await self._turn.acquire()
        try:
            sweep(self.files, self.paths, set(call.live), call.up_to)
        finally:
            self._turn.release()

    async def set_drain_flag(self, call: JobqueueSetDrainFlag) -> None:
        """Make or remove the flag's file."""
        if call.drained:
            await self.files.write_atomic(self.paths.queue_drain_file, b"", 0o644)
        elif self.files.exists(self.paths.queue_drain_file):
            self.files.remove(self.paths.queue_drain_file)

    async def demote(self, call: NodeDemoteFromMc) -> None:
        """Remove what only master candidates keep besides the job queue."""
        path = self.paths.ssconf_file("master_node")
        if self.files.exists(path) and self.files.read(path, MAX_SSCONF).decode().strip() == self.own_name:
            raise ConfigurationError(f"node {self.own_name} is the master, which keeps the configuration")
        await self._turn.acquire()
        try:
            if self.files.exists(self.paths.config_file):
                self.files.remove(self.paths.config_file)
        finally:
            self._turn.release()

    async def forget_cluster(self) -> None:
        """Remove configuration, queue, ssconf and every key of the cluster."""
        await self.purge_queue(JobqueuePurge())
        for path in self._of_the_cluster():
            if self.files.exists(path):
                self.files.remove(path)
        for name in self.files.listdir(self.paths.data_dir):
            if name.startswith("ssconf_"):
                self.files.remove(self.paths.data_dir / name)

    def _of_the_cluster(self) -> tuple[Path, ...]:
        """The files that only a member of the cluster has: its configuration and its keys, this node's own key last."""
        paths = self.paths
        return (
            paths.config_file,
            paths.hmac_key,
            paths.cluster_domain_secret,
            paths.rapi_pem,
            paths.authority_key,
            paths.client_pem,
            paths.authority_pem,
            paths.server_pem,
        )
