"""Jobs that the watcher submits, so that whoever finds them knows why."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.calls import Calls
from ganeti_tx.luxi.timeouts import CLIENT_POLL
from ganeti_tx.watcher.node import WatchedNode

SOURCE = "gnt:watcher"
ENDED = frozenset({"success", "error", "canceled"})
#: Seconds for which one run waits for its jobs; what takes longer goes on, and a later run sees what became of it.
WAIT_LIMIT = 240.0

OpCode = Mapping[str, Any]


@frozen
class WatcherJobs:
    """Submits and follows over one connection to the master."""

    node: WatchedNode
    client: Calls

    def submit(self, op: OpCode, why: str) -> int | None:
        """The job's id; None when it was refused, such as by a queue that is drained, which is logged."""
        reason = [[SOURCE, why, int(self.node.now() * 1e9)]]
        try:
            job = self.client.submit_job([{**op, "reason": reason}])
        except GanetiError as error:
            self.node.log.warning(f"{op['OP_ID']} because {why}: not submitted: {error}")
            return None
        self.node.log.info(f"job {job}: {op['OP_ID']} because {why}")
        return job

    def active(self, jobs: Collection[int]) -> set[int]:
        """Those that have not ended; one that is gone has."""
        if not jobs:
            return set()
        asked = sorted(jobs)
        rows = self.client.query_jobs(asked, ["status"])
        return {job for job, row in zip(asked, rows, strict=True) if row and row[0] is not None and row[0] not in ENDED}

    def follow(self, jobs: Collection[int]) -> dict[int, Sequence[Any]]:
        """Wait for some, all together for at most WAIT_LIMIT; the results of those that succeeded, the others are logged."""
        deadline = self.node.now() + WAIT_LIMIT
        return {job: results for job in sorted(jobs) if (results := self._follow(job, deadline)) is not None}

    def _follow(self, job: int, deadline: float) -> Sequence[Any] | None:
        status, results = self._state(job)
        while status not in ENDED:
            left = deadline - self.node.now()
            if left <= 0:
                self.node.log.info(f"job {job} goes on")
                return None
            self.client.wait_for_job_change(job, ["status"], [status], None, max(1, min(int(left), CLIENT_POLL)))
            status, results = self._state(job)
        if status != "success":
            self.node.log.warning(f"job {job} ended with {status}: {results}")
            return None
        return results

    def _state(self, job: int) -> tuple[str, Sequence[Any]]:
        (row,) = self.client.query_jobs([job], ["status", "opresult"])
        if row is None or row[0] is None:
            return "canceled", ["it is not in the queue any more"]
        return row[0], row[1]
