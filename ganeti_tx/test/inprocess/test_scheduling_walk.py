"""Random walks through the queue: jobs that take turns, wait for locks, are cancelled and killed while daemons die."""

from random import Random
from typing import Any

from ganeti_tx.test.inprocess.case import ClusterCase, delay
from ganeti_tx.test.inprocess.test_slots import limit_running

SEEDS = 8
STEPS = 40
NODES = ("node1.example.com", "node2.example.com")
SLOTS = 3


class Walk:
    """One walk; the same seed takes the same way."""

    def __init__(self, case: "WalkTests", seed: int) -> None:
        self.case = case
        self.random = Random(seed)
        self.cluster = case.cluster = case.new_cluster(seed)
        self.jobs: list[int] = []
        self.settled: dict[int, str] = {}
        limit_running(self.cluster, SLOTS)

    def take(self, steps: int) -> None:
        """So many steps, then time for everything to end."""
        actions = (self.submit, self.submit, self.submit, self.cancel, self.kill, self.reorder, self.deaths, self.rest)
        for _ in range(steps):
            self.random.choice(actions)()
            self.cluster.pass_time(self.random.choice((0.0, 0.003, 0.02, 0.5, 3.0)))
            self.check_settled()
        self.cluster.pass_time(4000)

    def submit(self) -> None:
        """A job of some opcodes, each of which leaves a word each time it is begun."""
        ops: list[dict[str, Any]] = []
        for _ in range(self.random.randint(1, 3)):
            ops.append({"OP_ID": "OP_TEST_JQUEUE", "log_messages": ["x"], "reason": []})
            if self.random.random() < 0.6:
                ops.append(self.locked())
        priority = self.random.choice((-10, 0, 10))
        self.jobs.append(self.case.luxi().submit_job([{**op, "priority": priority} for op in ops]))

    def locked(self) -> dict[str, Any]:
        """An opcode that wants a node, together with others or alone."""
        node = self.random.choice(NODES)
        if self.random.random() < 0.5:
            return delay(self.random.choice((0.1, 5.0, 40.0)), on_nodes=[node], on_master=False, no_locks=False)
        return {"OP_ID": "OP_TAGS_SET", "kind": "node", "name": node, "tags": ["x"], "reason": []}

    def cancel(self, kill: bool = False) -> None:
        """Cancel a job; what is said about it must be so."""
        if not self.jobs:
            return
        job_id = self.random.choice(self.jobs)
        done, text = self.case.luxi().cancel_job(job_id, kill)
        (status,) = self.case.statuses(job_id)
        if done and "will be" not in text:
            self.case.assertEqual(status, "canceled", text)
        elif "finished" in text:
            self.case.assertIn(status, ("success", "error", "canceled"), text)
        if status in ("success", "error", "canceled"):
            self.settled[job_id] = status

    def kill(self) -> None:
        """The same by force."""
        self.cancel(kill=True)

    def reorder(self) -> None:
        """Another priority for a job."""
        if self.jobs:
            self.case.luxi().change_job_priority(self.random.choice(self.jobs), self.random.randint(-20, 19))

    def deaths(self) -> None:
        """A daemon or a runner dies; daemons come back after a while."""
        which = self.random.choice(("luxid", "wconfd", "runner"))
        runners = sorted(self.cluster.zygote.runners)
        if which == "runner" and runners:
            self.cluster.zygote.kill(self.random.choice(runners))
        elif which == "luxid":
            self.cluster.kill_luxid()
            self.cluster.pass_time(self.random.choice((0.0, 0.01, 2.0)))
            self.cluster.start_luxid()
        elif which == "wconfd":
            self.cluster.kill_wconfd()
            self.cluster.pass_time(self.random.choice((0.0, 0.01, 2.0)))
            self.cluster.start_wconfd()

    def rest(self) -> None:
        """Let things happen."""
        self.cluster.pass_time(10)

    def check_settled(self) -> None:
        """What has ended stays as it ended."""
        for job_id, status in self.settled.items():
            self.case.assertEqual(self.case.statuses(job_id), [status])


class WalkTests(ClusterCase):
    """What holds on every way."""

    def test_walks(self) -> None:
        """Every job ends, none does an opcode twice, nothing stays held, and what was said of a cancel was true."""
        for seed in range(SEEDS):
            walk = Walk(self, seed)
            walk.take(STEPS)
            for job_id in walk.jobs:
                job = self.job(job_id)
                self.assertTrue(job.finalized, f"seed {seed}, job {job_id}: {job}")
                words = [sum(entry[3] == "x" for entry in op.log) for op in job.ops]
                self.assertLessEqual(max(words), 1, f"seed {seed}, job {job_id}")
            self.assertEqual(len(walk.cluster.luxid.scheduler.runs), 0, f"seed {seed}")
            self.assert_nothing_held(walk.cluster)
            walk.cluster.end()
