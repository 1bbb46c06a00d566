"""What must be true at any moment, whatever happens."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

import msgspec
from attrs import define, field

from ganeti_tx.errors import JobFileCorrupted
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.mastership.term import MasterTerm
from ganeti_tx.queue.files.job_file import JOB_FILE
from ganeti_tx.queue.job import FINAL, QueuedJob, Status, decode_job
from ganeti_tx.test.inprocess.chaos.executions import Execution, Executions
from ganeti_tx.test.inprocess.chaos.operators import Operators
from ganeti_tx.test.inprocess.chaos.record import Record
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.node import SimulatedNode
from ganeti_tx.wconfd.owners import INTERVAL

#: Seconds for which a dead owner may keep its locks while WConfD is up.
BOUND = INTERVAL + 1.0
ORDER = {Status.QUEUED: 0, Status.WAITING: 1, Status.RUNNING: 2, Status.CANCELING: 3}
LAST = 4


class ConfigHead(msgspec.Struct):
    """As much of a configuration as orders its versions."""

    serial_no: int


@define(eq=False)
class Invariants:
    """Watches the disks, and looks at the locks when asked to."""

    cluster: InProcessCluster
    record: Record
    executions: Executions
    operators: Operators
    jobs: dict[int, QueuedJob] = field(factory=dict)
    _serials: dict[str, tuple[int, int]] = field(factory=dict)
    _terms: dict[str, tuple[int, str]] = field(factory=dict)
    _dead_since: dict[Owner, float] = field(factory=dict)

    def begin(self) -> None:
        """Watch from now on."""
        for node in self.cluster.members:
            node.disk.listeners.append(partial(self._written, node))
        self.cluster.heralds.append(self._succeeded)

    # Masters

    def _succeeded(self) -> None:
        """A new master knows every accepted job of which it had a copy; what it says of jobs counts from now on."""
        new = self.cluster.master
        self.record.tell(f"{new.name} acts as the master")
        self.jobs.clear()
        self._dead_since.clear()
        for job_id, accepted in list(self.operators.accepted.items()):
            if new.name in accepted.copies and not self._archived(job_id):
                self._exists(job_id)
            found = new.disk.content(self.cluster.paths.job_file(job_id))
            if found is None:  # lost, or in the archive, where a copy may be older than the job's end
                del self.operators.accepted[job_id]
                continue
            job = self.jobs[job_id] = decode_job(found[0])
            if job.status is not Status.CANCELED:
                accepted.canceled_at = None

    def _archived(self, job_id: int) -> bool:
        """Somewhere; a node that becomes a candidate is sent no archive."""
        path = self.cluster.paths.archived_job_file(job_id)
        return any(node.disk.content(path) is not None for node in self.cluster.members)

    def _term_written(self, node: SimulatedNode, path: Path) -> None:
        """No node goes back to an earlier term, and a term is one master's."""
        if (found := node.disk.content(path)) is None:
            return
        term = msgspec.json.decode(found[0], type=MasterTerm)
        number, master = self._terms.get(node.name, (0, ""))
        if term.number < number or (term.number == number and term.master != master):
            self.record.breach(f"{node.name} goes from term {number} of {master} to {term.number} of {term.master}")
        self._terms[node.name] = (term.number, term.master)

    def _written(self, node: SimulatedNode, path: Path) -> None:
        if path.name == "config.data":
            self._config_written(node, path)
        elif path.name == self.cluster.paths.master_term_file.name:
            self._term_written(node, path)
        elif (
            node is self.cluster.master
            and (match := JOB_FILE.fullmatch(path.name)) is not None
            and path.parent == self.cluster.paths.queue_dir
            and (found := node.disk.content(path)) is not None
        ):
            self._job_written(int(match[1]), found[0])

    # The configuration

    def _config_written(self, node: SimulatedNode, path: Path) -> None:
        """Its serial number never falls within a term; a node that is no candidate any more has none."""
        found = node.disk.content(path)
        if found is None:
            return
        serial = msgspec.json.decode(found[0], type=ConfigHead).serial_no
        now, before = (self._terms.get(node.name, (0, ""))[0], serial), self._serials.get(node.name, (0, 0))
        if now < before:
            self.record.breach(f"the configuration of {node.name} goes from {before[1]} to {serial}, term {now[0]}")
        self._serials[node.name] = now

    # Jobs

    def _job_written(self, job_id: int, data: bytes) -> None:
        """A job's file only ever goes on; what is final stays."""
        try:
            job = decode_job(data)
        except JobFileCorrupted as error:
            self.record.breach(f"the file of job {job_id} is damaged: {error}")
            return
        before = self.jobs.get(job_id)
        self.jobs[job_id] = job
        self.record.tell(f"job {job_id}: {' '.join(op.status for op in job.ops)}")
        if job.finalized and job.end_timestamp is None:
            self.record.breach(f"job {job_id} is {job.status} and has not ended")
        if before is None:
            return
        if before.finalized and before != job:
            self.record.breach(f"job {job_id}, which ended as {before.status}, is changed: now {job.status}")
        for index, (old, new) in enumerate(zip(before.ops, job.ops, strict=True)):
            if ORDER.get(new.status, LAST) < ORDER.get(old.status, LAST):
                self._went_back(job_id, index, old.status, new.status)
            elif old.status in FINAL and old != new:
                self.record.breach(f"opcode {index} of job {job_id} was {old.status} and is {new.status}")

    def _went_back(self, job_id: int, index: int, old: Status, new: Status) -> None:
        """Only what has not begun may be queued again."""
        if new is not Status.QUEUED or self.executions.of(job_id, index) is not None:
            self.record.breach(f"opcode {index} of job {job_id} goes from {old} back to {new}")

    # Locks

    def look(self) -> None:
        """Look at what no disk tells."""
        for job_id in self.operators.accepted:
            self._exists(job_id)
        if self.cluster.acting.wconfd_is_up:
            self._look_for_dead_owners()
            self._look_for_conflicts()
        else:
            self._dead_since.clear()

    def _exists(self, job_id: int) -> None:
        paths = self.cluster.paths
        disk = self.cluster.master.disk
        if disk.content(paths.job_file(job_id)) is None and disk.content(paths.archived_job_file(job_id)) is None:
            self.record.breach(f"job {job_id} was accepted and is not there")

    def _look_for_dead_owners(self) -> None:
        """No lock is held by the dead for long, unless something is to be taken back under it."""
        now, awake = self.cluster.time.rightNow, self.cluster.acting.wconfd_process.stalled_until
        dead = {
            owner: max(self._dead_since.get(owner, now), awake)
            for owner in self.cluster.wconfd.locks.owners()
            if not self.cluster.liveness.is_alive(Path(owner.livelock)) and not self._interrupted(owner.job_id)
        }
        self._dead_since = dead
        for owner, since in dead.items():
            if now - since > BOUND:
                self.record.breach(f"{owner} has been dead for {now - since:g} s and is still in the table of locks")

    def _interrupted(self, job_id: int) -> bool:
        found = self.cluster.master.disk.content(self.cluster.paths.job_file(job_id))
        return found is not None and decode_job(found[0]).interrupted is not None

    def _look_for_conflicts(self) -> None:
        """What a job has been given nobody else is given while it works."""
        held: Mapping[Owner, Mapping[Lock, Mode]] = {
            owner: self.cluster.wconfd.locks.held(owner) for owner in self.cluster.wconfd.locks.owners()
        }
        for execution in self.executions.all:
            if execution.done or execution.node != self.cluster.master.name:
                continue
            if not self.cluster.liveness.is_alive(Path(execution.owner.livelock)):
                continue
            for owner, locks in held.items():
                if owner != execution.owner:
                    self._compare(execution, owner, locks)

    def _compare(self, execution: Execution, owner: Owner, locks: Mapping[Lock, Mode]) -> None:
        for lock in execution.locks.keys() & locks.keys():
            if Mode.EXCLUSIVE not in (execution.locks[lock], locks[lock]) or self._given_up(execution, lock):
                continue
            self.record.breach(f"{execution} and {owner} both have {lock}")

    def _given_up(self, execution: Execution, lock: Lock) -> bool:
        """What removes a thing removes its lock at the end."""
        return execution.op.op_id() in ("OP_INSTANCE_REMOVE", "OP_NODE_REMOVE") and lock.level in (
            Level.INSTANCE, Level.NODE, Level.NODE_RES,
        )  # fmt: skip
