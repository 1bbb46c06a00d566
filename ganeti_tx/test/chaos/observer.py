"""Looks at jobs and configurations all the time, as a suspicious client would, and notes whatever must not be."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from attrs import define, field

from ganeti_tx.devcluster.supervising import is_held
from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.test.chaos.cluster import CampaignCluster

FINAL = frozenset({"success", "error", "canceled"})
#: Seconds between two looks.
INTERVAL = 0.4
ANSWER = 60.0
#: Seconds after which nobody who died may hold a lock any more while WConfD runs; it takes one, and a busy machine some more.
RELEASE_LIMIT = 8.0


@define
class Seen:
    """What was seen of one job last: the states of its opcodes, and how many log entries it had."""

    statuses: list[str]
    ran: bool = False


@define
class Observations:
    """What may never be seen, as it was seen; and the jobs that were seen at their end."""

    violations: list[str] = field(factory=list)
    jobs: dict[int, Seen] = field(factory=dict)
    serials: dict[str, int] = field(factory=dict)
    looks: int = 0
    dead_owners: dict[str, float] = field(factory=dict)

    def see_job(self, job_id: int, statuses: list[str]) -> None:
        """One look at one job's opcodes."""
        before = self.jobs.get(job_id)
        if before is not None:
            for index, (old, new) in enumerate(zip(before.statuses, statuses, strict=True)):
                if old in FINAL and new != old:
                    self.violations.append(f"opcode {index} of job {job_id} was {old} and is {new}")
                elif old == "running" and new in ("waiting", "queued"):
                    self.violations.append(f"opcode {index} of job {job_id} ran and is {new} again")
        self.jobs[job_id] = Seen(statuses)

    def see_dead_owners(self, livelocks: set[str], now: float) -> None:
        """One look at who holds locks and is dead; those who lost them meanwhile are forgotten."""
        self.dead_owners = {each: self.dead_owners.get(each, now) for each in livelocks}
        late = {each for each, since in self.dead_owners.items() if now - since > RELEASE_LIMIT}
        self.violations += [
            f"the locks of {each} are held {RELEASE_LIMIT:g} s after its death" for each in sorted(late)
        ]
        for each in late:
            self.dead_owners[each] = float("inf")  # once is enough

    def see_serial(self, node: str, serial: int) -> None:
        """One look at a node's configuration."""
        before = self.serials.get(node, 0)
        if serial < before:
            self.violations.append(f"config.data of {node} went back from {before} to {serial}")
        self.serials[node] = serial


class Observer(threading.Thread):
    """Looks until it is told to stop."""

    def __init__(self, cluster: CampaignCluster, accepted: Callable[[], set[int]]) -> None:
        super().__init__(daemon=True, name="observer")
        self.observations = Observations()
        self._cluster = cluster
        self._accepted = accepted
        self._client = Client(cluster.socket, io_timeout=ANSWER, answer_timeout=ANSWER)
        self._enough = threading.Event()
        self._wconfd: int | None = None

    def run(self) -> None:
        """Look at everything again and again."""
        while not self._enough.wait(INTERVAL):
            self._look_at_jobs()
            self._look_at_configurations()
            self._look_at_locks()

    def _look_at_jobs(self) -> None:
        seen = self.observations.jobs
        open_jobs = [
            job_id
            for job_id in sorted(self._accepted())
            if job_id not in seen
            or not FINAL.issuperset(seen[job_id].statuses)
            or job_id % 10 == self.observations.looks % 10
        ]
        try:
            rows = self._client.query_jobs(open_jobs, ["id", "opstatus"]) if open_jobs else []
        except GanetiError:
            return  # there is no master just now
        self.observations.looks += 1
        for job_id, row in zip(open_jobs, rows, strict=True):
            if row is None or row[0] is None:
                self.observations.violations.append(f"job {job_id} was accepted, but is not known")
            else:
                self.observations.see_job(job_id, row[1])

    def _look_at_configurations(self) -> None:
        for node in self._cluster.layout.nodes:
            serial = self._cluster.serial(node)
            if serial is not None:
                self.observations.see_serial(node.name, serial)

    def _look_at_locks(self) -> None:
        """Only while one and the same WConfD runs can anybody see to the dead."""
        wconfd = self._cluster.process(self._cluster.master, self._cluster.master_daemons()[0])
        if wconfd is None or wconfd != self._wconfd:
            self._wconfd = wconfd
            self.observations.dead_owners.clear()
            return
        dead = {livelock for livelock in self._cluster.lock_owners() if not is_held(Path(livelock))}
        self.observations.see_dead_owners(dead, time.monotonic())

    def stop(self) -> Observations:
        """What was seen."""
        self._enough.set()
        self.join(2 * ANSWER)
        self._client.close()
        return self.observations


def wait_for_calm(cluster: CampaignCluster, accepted: set[int], limit: float) -> list[str]:
    """Wait until every job has ended and every daemon answers; what is not so in time."""
    deadline = time.monotonic() + limit
    unfinished: list[int] = []
    problem = ""
    while time.monotonic() < deadline:
        try:
            with Client(cluster.socket, io_timeout=ANSWER, answer_timeout=ANSWER) as client:
                rows = client.query_jobs(None, ["id", "status"])
            unfinished = [row[0] for row in rows if row[1] not in FINAL]
            problem = ""
        except GanetiError as error:
            problem = str(error)
        if not problem and not unfinished:
            return []
        time.sleep(0.5)
    return [f"after {limit:.0f} s of calm: {problem or f'jobs {unfinished} have not ended'}"]
