"""A walk through everything that the master writes to its disk, and what must be so after it, whatever failed on the way."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from attrs import define, field

from ganeti_tx.config.ssconf import ssconf_values
from ganeti_tx.errors import GanetiError
from ganeti_tx.locking import snapshot
from ganeti_tx.model.config_data import decode
from ganeti_tx.queue.job import Status, decode_job
from ganeti_tx.runtime.ssconf_files import ssconf_bytes
from ganeti_tx.test.inprocess.case import delay
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.commands import DrivingClient
from ganeti_tx.test.inprocess.faulty_disk import FaultyDisk

NODE2 = "node2.example.com"
INSTANCE = "web1.example.com"
#: Seconds for which a job is waited for; one whose end cannot be written takes longer.
TIMEOUT = 60.0
#: Seconds after which everything has been tried again that could not be written.
RECOVERY = 400.0
LIMIT = 1 << 22


def tags(kind: str, *names: str) -> dict[str, Any]:
    """The opcode that adds or removes cluster tags."""
    return {"OP_ID": f"OP_TAGS_{kind}", "kind": "cluster", "name": None, "tags": list(names), "reason": []}


def instance() -> dict[str, Any]:
    """The opcode that makes an instance, with reservations and locks of all kinds."""
    return {
        "OP_ID": "OP_INSTANCE_CREATE", "instance_name": INSTANCE, "mode": "create", "os_type": "noop", "disks": [{"size": 1024}],
        "nics": [{}], "disk_template": "file", "pnode": NODE2, "name_check": False, "ip_check": False, "start": False,
        "no_install": True, "wait_for_sync": True, "reason": [],
    }  # fmt: skip


def removal() -> dict[str, Any]:
    """The opcode that removes it."""
    return {
        "OP_ID": "OP_INSTANCE_REMOVE", "instance_name": INSTANCE, "ignore_failures": False, "shutdown_timeout": 1,
        "reason": [],
    }  # fmt: skip


@define
class DiskScenario:
    """One cluster through many walks.

    Of the last walk `refusals` has what was refused, `results` what was told of jobs, `told` the jobs that were told as done.
    """

    cluster: InProcessCluster = field(factory=lambda: InProcessCluster(2, spare=0, make_disk=lambda time: FaultyDisk()))
    refusals: list[str] = field(factory=list)
    results: list[str] = field(factory=list)
    told: list[int] = field(factory=list)

    @property
    def disk(self) -> FaultyDisk:
        """The master's."""
        disk = self.cluster.master.disk
        assert isinstance(disk, FaultyDisk)
        return disk

    def walk(self) -> None:
        """Do all of it; whatever is refused is noted."""
        self.refusals, self.results, self.told = [], [], []
        luxi = DrivingClient(self.cluster)
        try:
            self._job(luxi, [tags("SET", "one")])
            self._job(luxi, [delay(1.0, on_nodes=[NODE2], no_locks=False), tags("SET", "two"), delay(0.0)])
            self._job(luxi, [instance()])
            many = self._try(
                lambda: luxi.submit_many_jobs([[delay(0.5)], [delay(0.5), delay(0.5)], [tags("SET", "three")]])
            )
            self._try(lambda: luxi.set_drain_flag(True))
            self._try(lambda: luxi.set_drain_flag(False))
            self._try(lambda: luxi.set_watcher_pause(self.cluster.time.seconds() + 1000))
            self._try(lambda: luxi.set_watcher_pause(None))
            long = self._try(lambda: luxi.submit_job([delay(20.0)]))
            if long is not None:
                self._try(lambda: luxi.change_job_priority(long, 5))
                self._try(lambda: luxi.cancel_job(long))
            for _, job_id in many or []:
                self._wait(luxi, job_id)
            self._job(luxi, [removal()])
            self._job(luxi, [tags("DEL", "one", "two", "three")])
            self._try(lambda: luxi.auto_archive_jobs(-1, 30))
        finally:
            luxi.close()

    def clean(self) -> None:
        """With a disk that is well: take away what a walk that failed has left."""
        luxi = DrivingClient(self.cluster)
        luxi.set_drain_flag(False)
        luxi.set_watcher_pause(None)
        if self.cluster.config.instances:
            self._job(luxi, [removal()])
        if self.cluster.config.cluster.tags:
            self._job(luxi, [tags("DEL", *self.cluster.config.cluster.tags)])
        luxi.auto_archive_jobs(-1, 30)
        luxi.close()

    def _try(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except GanetiError as error:
            self.refusals.append(str(error))
            return None

    def _job(self, luxi: DrivingClient, ops: list[dict[str, Any]]) -> None:
        job_id = self._try(lambda: luxi.submit_job(ops))
        if job_id is not None:
            self._wait(luxi, job_id)

    def _wait(self, luxi: DrivingClient, job_id: int) -> None:
        end = self.cluster.time.seconds() + TIMEOUT
        while self.cluster.time.seconds() < end:
            rows = self._try(lambda: luxi.query_jobs([job_id], ["status", "opresult"]))
            if rows is None or rows[0][0] in ("success", "error", "canceled", None):
                self.results.append(str(rows))
                if rows is not None and rows[0][0] == "success":
                    self.told.append(job_id)
                return
            self.cluster.pass_time(0.5)

    def lose_power(self, chance: Random) -> None:
        """The master loses its power and comes up again."""
        self.cluster.lose_power(self.cluster.master, chance)
        self.disk.fault = None
        self.cluster.pass_time(10)
        self.cluster.master.boot()
        self.cluster.start_wconfd()
        self.cluster.start_luxid()

    def forgotten(self) -> list[str]:
        """What was told as done and is not."""
        store = self.cluster.luxid.store
        found = {job_id: store.find(job_id) for job_id in self.told}
        return [
            f"job {job_id} was told as done"
            for job_id, job in found.items()
            if job is None or job[0].status is not Status.SUCCESS
        ]

    # What must be so

    def faults(self) -> list[str]:
        """What is wrong some time after the disk has become well."""
        self.cluster.pass_time(RECOVERY)
        return [*self._config(), *self._jobs(), *self._held(), *self._ssconf(), *self._copies(), *self._disks()]

    def _read(self, path: Path) -> bytes:
        return self.disk.read(path, LIMIT)

    def _config(self) -> list[str]:
        store = self.cluster.wconfd.store
        on_disk = decode(self._read(self.cluster.paths.config_file))
        found = [] if on_disk.serial_no == store.snapshot.serial_no else ["the configuration's serial number differs"]
        if on_disk != store.snapshot or store.newest != store.snapshot:
            found.append("the configuration in memory is not that on disk")
        return found

    def _jobs(self) -> list[str]:
        store, paths = self.cluster.luxid.store, self.cluster.paths
        on_disk = {int(name[4:]) for name in self.disk.listdir(paths.queue_dir) if name.startswith("job-")}
        found = (
            [f"jobs {on_disk ^ set(store.jobs)} are in memory or on disk only"] if on_disk != set(store.jobs) else []
        )
        for job_id in sorted(on_disk):
            job = decode_job(self._read(paths.job_file(job_id)))
            if not job.finalized or job.end_timestamp is None or self.cluster.luxid.scheduler.is_followed(job_id):
                found.append(f"job {job_id} has not ended: {job.status}")
            if job != store.get(job_id):
                found.append(f"job {job_id} in memory is not that on disk")
        if int(self._read(paths.queue_serial_file)) < max(on_disk, default=0):
            found.append("the serial number is behind the jobs")
        return found

    def _held(self) -> list[str]:
        paths, wconfd = self.cluster.paths, self.cluster.wconfd
        found = [f"{lock.lock} is held by {lock.owners}" for lock in wconfd.locks.overview()]
        found += [f"{owner} has reservations" for owner in wconfd.reservations.owners()]
        if self.disk.exists(paths.locks_file) and snapshot.decode(self._read(paths.locks_file)).owners():
            found.append("locks.data has locks")
        reserved = paths.temporary_reservations_file
        if self.disk.exists(reserved) and self._read(reserved) != b"[]":
            found.append("tempres.data has reservations")
        return found

    def _ssconf(self) -> list[str]:
        values = ssconf_values(self.cluster.config)
        wanted = {self.cluster.paths.ssconf_file(key): ssconf_bytes(value) for key, value in values.items()}
        return [
            f"{path} is old on {node.name}"
            for node in self.cluster.members
            for path, data in wanted.items()
            if node.disk.read(path, LIMIT) != data
        ]

    def _copies(self) -> list[str]:
        paths, copy = self.cluster.paths, self.cluster.node(2).disk
        names = [name for name in self.disk.listdir(paths.queue_dir) if name.startswith("job-")]
        ours = [paths.config_file, *(paths.queue_dir / name for name in names)]
        serial, highest = (
            int(copy.read(paths.queue_serial_file, LIMIT)),
            max((int(name[4:]) for name in names), default=0),
        )
        found = [f"the candidate's serial number {serial} is below job {highest}"] if serial < highest else []
        return found + [
            f"{path} is old on the candidate"
            for path in ours
            if not copy.exists(path) or copy.read(path, LIMIT) != self._read(path)
        ]

    def _disks(self) -> list[str]:
        """A removal that could not be written leaves an instance without its disk; a disk of no instance is worse."""
        configured = len(self.cluster.config.disks)
        there = sum(map(len, self.cluster.disks().values()))
        return [] if there <= configured else [f"{there} disks are there, {configured} are configured"]
