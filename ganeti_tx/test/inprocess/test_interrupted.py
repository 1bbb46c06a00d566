"""What a job had begun when its process died is taken back by a fresh one, before its locks are free."""

from random import Random

from ganeti_tx.errors import decode_error, error_text
from ganeti_tx.queue.job import QueuedJob
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevRemove
from ganeti_tx.rpc.calls.instance import InstanceOsAdd
from ganeti_tx.test.inprocess.case import ClusterCase, scene_of
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.failover_case import FailoverCase

ADD = "gnt-instance add --submit -t file --disk 0:size=1G --disk 1:size=2G -o noop -n node2 web1"
NAME = "web1.example.com"
NODE = "node2.example.com"


class InterruptedTests(ClusterCase):
    """Creations whose process is killed."""

    def submit(self, cluster: InProcessCluster) -> int:
        """Begin to create web1."""
        return scene_of(cluster).submit(ADD)

    def job_of(self, cluster: InProcessCluster, job_id: int) -> QueuedJob:
        """A job as its file has it."""
        self.cluster, before = cluster, self.cluster
        try:
            return self.job(job_id)
        finally:
            self.cluster = before

    def kill_process(self, cluster: InProcessCluster, job_id: int) -> None:
        """Kill the process that has the job."""
        process_id = self.job_of(cluster, job_id).process_id
        if process_id is not None and process_id in cluster.zygote.runners:
            cluster.zygote.kill(process_id)

    def told(self, job: QueuedJob) -> str:
        """The error of the only opcode."""
        return error_text(decode_error(job.ops[0].result))

    def until_installing(self, job_id: int) -> None:
        """Let time pass until the OS is being installed."""
        for _ in range(400):
            if any(isinstance(each.call, InstanceOsAdd) for each in self.cluster.network.sent):
                return
            self.cluster.pass_time(0.01)
        self.fail("no OS was installed")

    def test_killed_at_every_moment(self) -> None:
        """Whenever it is killed: all of the instance is there afterwards, or nothing; and the job says which."""
        undone = 0
        for moment in [
            0.02,
            1.0,
            *(2.04 + step * 0.004 for step in range(25)),
            *(3 + step * 0.25 for step in range(16)),
        ]:
            cluster = self.new_cluster()
            job_id = self.submit(cluster)
            cluster.pass_time(moment)
            self.kill_process(cluster, job_id)
            cluster.pass_time(40)
            job = self.job_of(cluster, job_id)
            where = f"killed after {moment:g} s: {job.ops[0].result} {job.ops[0].log}"
            self.assertTrue(job.finalized, where)
            if job.status.value == "success":
                self.assertEqual(cluster.running(), {NODE: [NAME]}, where)
                self.assert_nothing_held(cluster)
            else:
                undone += "taken back" in self.told(job)
                self.assert_nothing_left(cluster)
            cluster.end()
        self.assertGreater(undone, 5)

    def test_told(self) -> None:
        """The job says who died, and what was taken back, last first; its file has no undo any more."""
        job_id = self.submit(self.cluster)
        self.until_installing(job_id)
        self.kill_process(self.cluster, job_id)
        self.cluster.pass_time(40)
        job = self.job(job_id)
        text = self.told(job)
        self.assertRegex(
            text, r"^the process \d+ of job \d+ .* died: .*; taken back: shut down disk/0 of instance web1"
        )
        self.assertIn(f"remove instance {NAME}, remove disk/1 of instance {NAME} on node {NODE}, remove disk/0", text)
        self.assertIsNone(job.interrupted)
        words = [entry[3] for entry in job.ops[0].log]
        self.assertTrue(any(str(word).startswith("Taking back what was begun: the process") for word in words), words)
        self.assert_nothing_left(self.cluster)

    def test_locks_stay(self) -> None:
        """Nobody gets the locks of what is half done, although no luxid is there to have it taken back."""
        job_id = self.submit(self.cluster)
        self.until_installing(job_id)
        self.cluster.kill_luxid()
        self.kill_process(self.cluster, job_id)
        self.cluster.pass_time(30)
        held = [str(each.lock) for each in self.cluster.locks() if each.owners]
        self.assertIn(f"instance/{NAME}", held)
        self.cluster.start_luxid()
        self.cluster.pass_time(40)
        self.assertEqual(self.statuses(job_id), ["error"])
        self.assert_nothing_left(self.cluster)

    def test_power_cut(self) -> None:
        """After the master's power was cut the instance's locks are held before another job can get them."""
        job_id = self.submit(self.cluster)
        self.until_installing(job_id)
        self.cluster.lose_power(self.cluster.master, Random(1))
        self.cluster.pass_time(5)
        self.cluster.master.boot()
        self.cluster.start_wconfd()
        self.cluster.start_luxid()
        again = scene_of(self.cluster).submit(ADD)
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(job_id, again), ["error", "success"])
        self.assertEqual(self.cluster.running(), {NODE: [NAME]})

    def test_the_second_process_dies_too(self) -> None:
        """The next one goes on where it was."""
        job_id = self.submit(self.cluster)
        self.until_installing(job_id)
        killed: list[int] = []

        def fault(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, BlockdevRemove) and len(killed) < 3:
                killed.append(1)
                self.cluster.time.callLater(0, self.kill_process, self.cluster, job_id)

        self.cluster.network.fault = fault
        self.kill_process(self.cluster, job_id)
        self.cluster.pass_time(60)
        self.assertEqual((len(killed), self.statuses(job_id)), (3, ["error"]))
        self.assert_nothing_left(self.cluster)

    def test_node_is_gone(self) -> None:
        """A node that stays away does not hold the queue for ever: the job tells what could not be taken back."""
        job_id = self.submit(self.cluster)
        self.until_installing(job_id)
        self.cluster.node(2).stop()
        self.kill_process(self.cluster, job_id)
        self.cluster.pass_time(4000)
        self.assertEqual(self.statuses(job_id), ["error"])
        self.assertIn("could not be taken back, see the job's log: ", self.told(self.job(job_id)))
        self.assertEqual(dict(self.cluster.config.instances), {})
        self.assert_nothing_held(self.cluster)

    def test_cancel(self) -> None:
        """A job that is being undone cannot be canceled, and says why; a killed one is canceled when it is undone."""
        job_id = self.submit(self.cluster)
        self.until_installing(job_id)
        self.cluster.node(2).stop()
        self.kill_process(self.cluster, job_id)
        self.cluster.pass_time(2)
        taken, text = self.luxi().cancel_job(job_id)
        self.assertEqual((taken, "takes back what it had begun" in text), (False, True), text)
        self.cluster.pass_time(4000)


class FailoverTests(FailoverCase):
    """The master is lost while it creates an instance on another node."""

    def test_new_master_takes_back(self) -> None:
        """The new master finds in its copy of the job what was begun, takes it back under the job's locks, and says so."""
        job_id = scene_of(self.cluster).submit(ADD)
        for _ in range(400):
            self.cluster.pass_time(0.01)
            if any(isinstance(each.call, InstanceOsAdd) for each in self.cluster.network.sent):
                break
        self.cluster.lose_power(self.cluster.node(1), Random(1))
        self.fail_over(3)
        self.cluster.pass_time(300)
        job = self.job(job_id)
        self.assertEqual(job.status.value, "error")
        text = error_text(decode_error(job.ops[0].result))
        self.assertRegex(
            text, "^master failed over from node1.example.com while the job ran; taken back: shut down disk/0"
        )
        self.assert_nothing_left(self.cluster)
