"""The metrics of jobs, their processes and their locks move when something happens to these."""

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.metrics import jobs, locks, luxi, nodes
from ganeti_tx.test.inprocess.case import delay
from ganeti_tx.test.inprocess.metrics_case import MetricsCase

NODE2 = "node2.example.com"
CALL = "test_delay"
#: An opcode that takes the whole cluster for itself.
EXCLUSIVE = {"OP_ID": "OP_NODE_REMOVE", "node_name": "node3.example.com", "reason": []}


class JobTests(MetricsCase):
    """Jobs by status, how they ended, and how long they took."""

    def test_status(self) -> None:
        """Jobs are counted under the status that they have, and are old from their submission on."""
        luxi_client = self.luxi()
        for _ in range(25):
            luxi_client.submit_job([delay(30.0)])
        self.cluster.pass_time(10)
        found = self.series(jobs.JOBS)
        self.assertEqual((found["queued",], found["running",], found["success",]), (5, 20, 0))
        self.assertEqual(self.value(jobs.QUEUE_LENGTH), 5)
        self.assertEqual(self.value(jobs.RUNNING_LIMIT), 20)
        self.assertApproximates(self.value(jobs.OLDEST, "queued") or 0, 10, 1)
        self.assertEqual(self.value(jobs.OLDEST, "waiting"), 0)
        self.cluster.pass_time(60)
        self.assertEqual(self.value(jobs.JOBS, "success"), 25)
        self.assertEqual(self.value(jobs.OLDEST, "queued"), 0)
        self.assertEqual(self.value(jobs.SUBMITTED), 25)

    def test_end(self) -> None:
        """Each end is counted once, by opcode and status, with the times to the start and to the end."""
        luxi_client = self.luxi()
        luxi_client.submit_job([delay(5.0)])
        luxi_client.submit_job([delay(1.0)])
        canceled = luxi_client.submit_job([delay(50.0)])
        failing = luxi_client.submit_job([delay(1.0), {"OP_ID": "OP_NODE_REMOVE", "node_name": "none", "reason": []}])
        self.cluster.pass_time(1)
        luxi_client.cancel_job(canceled)
        self.cluster.pass_time(20)
        self.assertEqual(self.statuses(failing), ["error"])
        self.assertEqual(
            self.series(jobs.ENDED),
            {("TEST_DELAY", "success"): 2, ("TEST_DELAY", "canceled"): 1, ("several", "error"): 1},
        )
        self.assertEqual(self.series(jobs.RUN), {("TEST_DELAY",): 3, ("several",): 1})
        self.assertGreaterEqual(self.total(jobs.RUN, "TEST_DELAY"), 7)
        self.assertEqual(self.series(jobs.WAIT), {("TEST_DELAY",): 3, ("several",): 1})

    def test_wait(self) -> None:
        """A job that waited for a slot is known to have waited."""
        luxi_client = self.luxi()
        for _ in range(21):
            luxi_client.submit_job([delay(30.0)])
        self.cluster.pass_time(100)
        self.assertApproximates(self.total(jobs.WAIT, "TEST_DELAY"), 30, 2)

    def test_drained(self) -> None:
        """A drained queue says so."""
        self.assertEqual(self.value(jobs.DRAINED), 0)
        self.luxi().set_drain_flag(True)
        self.assertEqual(self.value(jobs.DRAINED), 1)

    def test_copies(self) -> None:
        """A candidate that takes no copies of jobs is behind until it has what it lacks."""
        self.cluster.node(2).stop()
        self.luxi().submit_job([delay(1.0)])
        self.cluster.pass_time(20)
        self.assertEqual(self.series(jobs.COPIES_BEHIND), {(NODE2,): 1, ("node3.example.com",): 0})
        self.cluster.node(2).start()
        self.cluster.pass_time(600)
        self.assertEqual(self.value(jobs.COPIES_BEHIND, NODE2), 0)


class RunnerTests(MetricsCase):
    """The processes of jobs, and what is told of what they do."""

    def test_states(self) -> None:
        """Processes are busy, then idle; each that came up is counted."""
        self.luxi().submit_many_jobs([[delay(5.0)]] * 4)
        self.cluster.pass_time(2)
        self.assertEqual(self.series(jobs.RUNNERS), {("busy",): 4, ("idle",): 0, ("starting",): 0})
        self.cluster.pass_time(10)
        self.assertEqual(self.series(jobs.RUNNERS), {("busy",): 0, ("idle",): 4, ("starting",): 0})
        self.assertEqual(self.value(jobs.RUNNERS_STARTED), 4)

    def test_calls_of_a_job(self) -> None:
        """Node calls that a job made are told once it has ended, and once only, whoever runs the next."""
        luxi_client = self.luxi()
        for expected in (1, 2):
            luxi_client.submit_job([delay(3.0, on_nodes=[NODE2], no_locks=False)])
            self.cluster.pass_time(1)
            self.assertEqual(self.value(nodes.CALLS, NODE2, CALL) or 0, expected - 1)
            self.cluster.pass_time(10)
            self.assertEqual(self.value(nodes.CALLS, NODE2, CALL), expected)
        self.assertGreaterEqual(self.total(nodes.CALLS, NODE2, CALL), 6)

    def test_between_opcodes(self) -> None:
        """A job of several opcodes tells of the first before the last has ended."""
        self.luxi().submit_job([delay(1.0, on_nodes=[NODE2]), delay(100.0, on_nodes=[NODE2])])
        self.cluster.pass_time(20)
        self.assertEqual(self.value(nodes.CALLS, NODE2, CALL), 1)
        self.cluster.pass_time(300)

    def test_death(self) -> None:
        """A process that dies is counted; what it had counted and not told is lost, no more and no less."""
        luxi_client = self.luxi()
        luxi_client.submit_job([delay(1.0, on_nodes=[NODE2])])
        self.cluster.pass_time(10)
        job_id = luxi_client.submit_job([delay(3.0, on_nodes=[NODE2])])
        self.cluster.pass_time(1)
        process_id = self.job(job_id).process_id
        assert process_id is not None
        self.cluster.zygote.kill(process_id)
        self.cluster.pass_time(30)
        self.assertEqual(self.value(jobs.RUNNERS_DIED), 1)
        self.assertEqual(self.value(jobs.ENDED, "TEST_DELAY", "error"), 1)
        self.assertEqual(self.value(nodes.CALLS, NODE2, CALL), 1)
        luxi_client.submit_job([delay(1.0, on_nodes=[NODE2])])
        self.cluster.pass_time(10)
        self.assertEqual(self.value(nodes.CALLS, NODE2, CALL), 2)

    def test_master_daemon_restarts(self) -> None:
        """What a job counted while luxid was away comes with its end to the next luxid, whose own counts begin anew."""
        luxi_client = self.luxi()
        luxi_client.submit_job([delay(20.0, on_nodes=[NODE2])])
        self.cluster.pass_time(5)
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.cluster.pass_time(40)
        self.assertEqual(self.value(nodes.CALLS, NODE2, CALL), 1)
        self.assertEqual(self.value(jobs.ENDED, "TEST_DELAY", "success"), 1)
        self.assertEqual(self.value(jobs.SUBMITTED), 0)


class LockTests(MetricsCase):
    """Locks that are held and waited for."""

    def test_held_and_waited_for(self) -> None:
        """What is held and who waits is told by level, and how long the first has waited."""
        luxi_client = self.luxi()
        luxi_client.submit_job([delay(30.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        luxi_client.submit_job([EXCLUSIVE])
        self.cluster.pass_time(10)
        self.assertEqual(self.value(locks.HELD, "cluster", "shared"), 1)
        self.assertGreaterEqual(sum(self.series(locks.HELD).values()), 2)
        self.assertEqual(sum(self.series(locks.WAITED_FOR).values()), 1)
        self.assertApproximates(self.value(locks.LONGEST_WAIT) or 0, 10, 2)
        self.cluster.pass_time(100)
        self.assertEqual(set(self.series(locks.HELD).values()), {0})
        self.assertEqual(self.value(locks.LONGEST_WAIT), 0)

    def test_waits(self) -> None:
        """Each wait that ended is counted by level and how it ended, with its length."""
        luxi_client = self.luxi()
        luxi_client.submit_job([delay(30.0, on_nodes=[NODE2], no_locks=False)])
        self.cluster.pass_time(1)
        luxi_client.submit_job([EXCLUSIVE])
        self.cluster.pass_time(400)
        found = self.series(locks.WAIT)
        self.assertEqual(found["cluster", "granted"], 2)
        self.assertGreaterEqual(found["cluster", "timeout"], 1)
        self.assertApproximates(sum(self.total(locks.WAIT, *labels) for labels in found), 59, 3)


class LuxiTests(MetricsCase):
    """Requests of LUXI."""

    def test_requests(self) -> None:
        """Each request is counted and timed under its method, and those that failed again."""
        luxi_client = self.luxi()
        luxi_client.query_cluster_info()
        luxi_client.query_cluster_info()
        self.assertRaises(OpPrereqError, luxi_client.query, "nothing", ["name"])
        self.assertEqual(self.value(luxi.REQUESTS, "QueryClusterInfo"), 2)
        self.assertEqual(self.series(luxi.FAILURES), {("Query",): 1})
        self.assertGreaterEqual(self.value(luxi.CONNECTIONS) or 0, 1)
