"""Jobs that share slots in a whole cluster, and daemons that die while a job is handed over."""

from typing import Any

import msgspec

from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.test.inprocess.case import ClusterCase, delay
from ganeti_tx.test.inprocess.cluster import InProcessCluster

NODE2 = "node2.example.com"


def say(word: str) -> dict[str, Any]:
    """An opcode that leaves one line in its log each time it is run."""
    return {"OP_ID": "OP_TEST_JQUEUE", "log_messages": [word], "reason": []}


def running_limit(data: ConfigData, limit: int) -> ConfigData:
    """A configuration with another running limit."""
    return msgspec.structs.replace(data, cluster=msgspec.structs.replace(data.cluster, max_running_jobs=limit))


def limit_running(cluster: InProcessCluster, limit: int) -> None:
    """Change the cluster's running limit."""
    cluster.run(cluster.wconfd.store.change(lambda data, now: running_limit(data, limit)))


class SlotTests(ClusterCase):
    """Who has the slot, and for how long."""

    def test_limit_at_run_time(self) -> None:
        """A changed running limit counts for the very next job."""
        limit_running(self.cluster, 1)
        luxi = self.luxi()
        first, second = luxi.submit_job([delay(50.0)]), luxi.submit_job([delay(50.0)])
        self.cluster.pass_time(1)
        self.assertEqual(self.statuses(first, second), ["running", "queued"])
        limit_running(self.cluster, 3)
        third = luxi.submit_job([delay(50.0)])
        self.cluster.pass_time(1)
        self.assertEqual(self.statuses(first, second, third), ["running"] * 3)
        self.cluster.pass_time(100)

    def test_equals_take_turns(self) -> None:
        """Of two jobs of equal priority each does one opcode after the other's."""
        limit_running(self.cluster, 1)
        luxi = self.luxi()
        first, second = (luxi.submit_job([delay(10.0), delay(10.0)]) for _ in range(2))
        self.cluster.pass_time(100)
        self.assertEqual(self.statuses(first, second), ["success"] * 2)
        ends = [self.job(each).ops[index].end_timestamp for index in (0, 1) for each in (first, second)]
        self.assertEqual(ends, sorted(ends, key=lambda at: at or (0, 0)))

    def test_urgent_comes_in_between(self) -> None:
        """An urgent job starts after the running job's present opcode, not after its last."""
        limit_running(self.cluster, 1)
        luxi = self.luxi()
        long = luxi.submit_job([delay(10.0)] * 5)
        self.cluster.pass_time(5)
        urgent, low = luxi.submit_job([delay(1.0, priority=-10)]), luxi.submit_job([delay(1.0, priority=10)])
        self.cluster.pass_time(8)
        self.assertEqual(self.statuses(long, urgent, low), ["running", "success", "queued"])
        self.cluster.pass_time(100)
        self.assertEqual(self.statuses(long, urgent, low), ["success"] * 3)

    def waiting_for_locks(self) -> list[int]:
        """One job with a node's lock and so many that want it that every slot is taken."""
        luxi = self.luxi()
        remove = {"OP_ID": "OP_TAGS_SET", "kind": "node", "name": NODE2, "tags": ["x"], "reason": []}
        holder = luxi.submit_job([delay(200.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        return [holder, *(luxi.submit_job([remove]) for _ in range(3))]

    def test_waiting_for_locks_blocks_nobody(self) -> None:
        """A job that can do something is done although every slot was taken by jobs that wait for locks."""
        limit_running(self.cluster, 4)
        jobs = self.waiting_for_locks()
        self.cluster.pass_time(0.2)
        self.assertEqual(self.statuses(*jobs), ["running", "waiting", "waiting", "waiting"])
        free = [self.luxi().submit_job([delay(1.0)]) for _ in range(3)]
        self.cluster.pass_time(20)
        self.assertEqual(self.statuses(*free), ["success"] * 3)
        self.cluster.pass_time(400)
        self.assertEqual(self.statuses(*jobs), ["success"] * 4)

    def test_urgent_at_last(self) -> None:
        """After so many tries a job waits at -20 without limit, and its priority survives both daemons and its process."""
        holder = self.luxi().submit_job([delay(2000.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        job_id = self.luxi().submit_job(
            [{"OP_ID": "OP_TAGS_SET", "kind": "node", "name": NODE2, "tags": ["x"], "reason": []}]
        )
        self.cluster.pass_time(70)
        (priority,) = [op.priority for op in self.job(job_id).ops]
        self.assertEqual(priority, -6)
        self.cluster.kill_luxid()
        process_id = self.job(job_id).process_id
        assert process_id is not None
        self.cluster.zygote.kill(process_id)
        self.cluster.start_luxid()
        self.cluster.pass_time(10)
        self.assertEqual(self.statuses(job_id), ["waiting"])
        self.assertEqual(self.job(job_id).ops[0].priority, -6)
        self.cluster.pass_time(1500)
        self.assertEqual(self.job(job_id).ops[0].priority, -20)
        self.cluster.pass_time(3000)
        self.assertEqual(self.statuses(holder, job_id), ["success"] * 2)


class HandOverTests(ClusterCase):
    """Deaths while jobs change places: none is lost, no opcode is done twice."""

    def two_jobs(self, cluster: InProcessCluster) -> list[int]:
        """Two jobs that share the only slot, opcode by opcode."""
        self.cluster = cluster
        limit_running(cluster, 1)
        return [job_id for _, job_id in self.luxi().submit_many_jobs([[say("a"), say("b"), say("c")]] * 2)]

    def assert_done_once(self, job_id: int, where: str) -> None:
        """Each opcode has said its word once."""
        said = [[entry[3] for entry in op.log] for op in self.job(job_id).ops]
        self.assertEqual((self.statuses(job_id), said), (["success"], [["a"], ["b"], ["c"]]), where)

    def test_undisturbed(self) -> None:
        """The two jobs change places after each opcode."""
        jobs = self.two_jobs(self.new_cluster())
        self.cluster.pass_time(10)
        for job_id in jobs:
            self.assert_done_once(job_id, "undisturbed")
        starts = [self.job(each).ops[index].start_timestamp for index in range(3) for each in jobs]
        self.assertEqual(starts, sorted(starts, key=lambda at: at or (0, 0)))

    def test_luxid_dies(self) -> None:
        """Whenever luxid dies, every opcode is done, and once."""
        for step in range(60):
            jobs = self.two_jobs(self.new_cluster())
            self.cluster.pass_time(step * 0.002)
            self.cluster.kill_luxid()
            self.cluster.pass_time(0.003 * (step % 7))
            self.cluster.start_luxid()
            self.cluster.pass_time(60)
            for job_id in jobs:
                self.assert_done_once(job_id, f"luxid killed in step {step}")
            self.assert_nothing_held(self.cluster)
            self.cluster.end()

    def test_runner_dies(self) -> None:
        """Whenever a runner dies, its job is done or in error, the other one is done, and no opcode is done twice."""
        for step in range(60):
            jobs = self.two_jobs(self.new_cluster())
            self.cluster.pass_time(step * 0.002)
            for process_id in list(self.cluster.zygote.runners)[-1:]:
                self.cluster.zygote.kill(process_id)
            self.cluster.pass_time(60)
            where = f"runner killed in step {step}"
            statuses = self.statuses(*jobs)
            self.assertIn(statuses.count("error"), (0, 1), where)
            self.assertEqual(len(jobs), statuses.count("error") + statuses.count("success"), where)
            for job_id in jobs:
                said = [len(op.log) for op in self.job(job_id).ops]
                self.assertLessEqual(max(said), 1, where)
            self.assert_nothing_held(self.cluster)
            self.cluster.end()

    def test_both_die(self) -> None:
        """When luxid and the runner die together, what was not half done goes on from the file."""
        for step in range(60):
            jobs = self.two_jobs(self.new_cluster())
            self.cluster.pass_time(step * 0.002)
            self.cluster.kill_luxid()
            for process_id in list(self.cluster.zygote.runners):
                self.cluster.zygote.kill(process_id)
            half_done = [each for each in jobs if "running" in [op.status.value for op in self.job(each).ops]]
            self.cluster.start_luxid()
            self.cluster.pass_time(60)
            where = f"killed in step {step}"
            for job_id in jobs:
                if job_id in half_done:
                    self.assertEqual(self.statuses(job_id), ["error"], where)
                else:
                    self.assert_done_once(job_id, where)
            self.cluster.end()
