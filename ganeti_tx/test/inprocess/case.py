"""The ground of tests with a whole cluster in this process."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.queue.job import QueuedJob, decode_job
from ganeti_tx.test.contracts.cluster import Scene
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.commands import Commands, DrivingClient
from ganeti_tx.test.inprocess.node import OS_NAME


class ClusterCase(SynchronousTestCase):
    """Each test has a cluster of three nodes; when it ends, no lock is held and nothing is reserved."""

    def setUp(self) -> None:
        self.cluster = self.new_cluster()

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """A cluster that ends with the test."""
        cluster = InProcessCluster(3, seed)
        self.addCleanup(cluster.end)
        return cluster

    def tearDown(self) -> None:
        self.assert_nothing_held(self.cluster)

    def assert_nothing_held(self, cluster: InProcessCluster) -> None:
        """No lock is held or waited for, and nothing is reserved."""
        held = [str(each) for each in cluster.locks() if each.owners or each.pending]
        self.assertEqual(held, [])
        self.assertEqual(cluster.wconfd.reservations.owners(), set())

    def assert_nothing_left(self, cluster: InProcessCluster) -> None:
        """No instance is configured or runs, no disk is there, no lock is held, nothing is reserved."""
        config = cluster.config
        self.assertEqual((dict(config.instances), dict(config.disks)), ({}, {}))
        self.assertEqual(cluster.disks(), {})
        self.assertEqual(cluster.running(), {})
        self.assert_nothing_held(cluster)

    def scene(self) -> Scene:
        """The cluster as seen from its command lines."""
        return scene_of(self.cluster)

    def ok(self, line: str) -> str:
        """As Scene says."""
        return self.scene().ok(line)

    def fails(self, line: str, reason: str) -> str:
        """As Scene says."""
        return self.scene().fails(line, reason)

    def luxi(self) -> DrivingClient:
        """A LUXI client that lets time pass until its answer is there."""
        client = DrivingClient(self.cluster)
        self.addCleanup(client.close)
        return client

    def job(self, job_id: int) -> QueuedJob:
        """A job as its file has it."""
        return decode_job(self.cluster.master.disk.read(self.cluster.paths.job_file(job_id), 1 << 20))

    def statuses(self, *job_ids: int) -> list[str]:
        """The status of each job by its file."""
        return [self.job(job_id).status.value for job_id in job_ids]


def scene_of(cluster: InProcessCluster) -> Scene:
    """A cluster as seen from its command lines."""
    return Scene(Commands(cluster), [node.name for node in cluster.members], OS_NAME)


def delay(duration: float, **more: Any) -> dict[str, Any]:
    """The opcode of a job that only takes time."""
    return {"OP_ID": "OP_TEST_DELAY", "duration": duration, "reason": [], **more}
