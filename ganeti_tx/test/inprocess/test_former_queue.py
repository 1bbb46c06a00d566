"""What a former master did to its queue while nobody heard it: its copies become the new master's."""

from random import Random
from typing import Any

from ganeti_tx.test.inprocess.case import delay
from ganeti_tx.test.inprocess.failover_case import FailoverCase
from ganeti_tx.test.inprocess.master_service import failover

TAG: dict[str, Any] = {"OP_ID": "OP_TAGS_SET", "kind": "cluster", "tags": ["one"], "reason": []}


class FormerQueueTests(FailoverCase):
    """Node1 is the master and is cut off; node2 takes over; node1 comes back and is a candidate."""

    def setUp(self) -> None:
        super().setUp()
        self.first = self.luxi()
        self.ended = self.first.submit_job([TAG])
        self.cluster.pass_time(20)
        self.assertEqual(self.queue_of(1), self.queue_of(2))

    def queue_of(self, number: int) -> dict[str, bytes]:
        """What a node has of live jobs, and its serial number."""
        disk, directory = self.cluster.node(number).disk, self.cluster.paths.queue_dir
        names = (name for name in disk.listdir(directory) if name not in ("archive", "lost+found"))
        return {name: disk.read(directory / name, 1 << 20) for name in names}

    def cut_off(self) -> None:
        """Nobody reaches node1 any more, and its daemons do not know that yet."""
        self.cluster.network.silent.add(self.cluster.node(1).address)

    def succeed(self) -> None:
        """Node2 becomes the master, and node1 is back."""
        self.cluster.run(failover(self.cluster.daemons[self.cluster.node(2).name], lambda line: None))
        self.cluster.network.silent.discard(self.cluster.node(1).address)
        self.cluster.pass_time(400)
        self.assertEqual(self.cluster.master, self.cluster.node(2))

    def assert_same(self) -> None:
        """All candidates have the new master's queue, byte for byte."""
        for number in (1, 3):
            self.assertEqual(self.queue_of(number), self.queue_of(2), f"node{number}")

    def test_archived_by_the_former(self) -> None:
        """A job that only the former master had archived is live on all nodes, as it is for the new one."""
        self.cut_off()
        self.assertTrue(self.first.call("ArchiveJob", [self.ended]))
        self.assertNotIn(f"job-{self.ended}", self.queue_of(1))
        self.succeed()
        self.assertIn(f"job-{self.ended}", self.queue_of(2))
        self.assert_same()
        self.assertFalse(self.cluster.node(1).disk.exists(self.cluster.paths.archived_job_file(self.ended)))
        self.assertTrue(self.luxi().call("ArchiveJob", [self.ended]))
        self.cluster.pass_time(10)
        self.assert_same()

    def test_archiving_lost_with_the_power(self) -> None:
        """A job that is live again after a power cut, since its move to the archive was not on disk, is live on all."""
        self.assertTrue(self.first.call("ArchiveJob", [self.ended]))
        self.cluster.pass_time(10)
        old, paths = self.cluster.acting, self.cluster.paths
        self.cluster.lose_power(old.node, Random(0))
        if old.node.disk.exists(paths.archived_job_file(self.ended)):
            old.node.disk.rename(paths.archived_job_file(self.ended), paths.job_file(self.ended))
        old.node.boot()
        self.cluster.run(old.start_wconfd_later())
        self.cluster.run(old.start_luxid_later())
        self.cluster.pass_time(30)
        self.assertIn(f"job-{self.ended}", self.queue_of(1))
        for number in (2, 3):
            self.assertEqual(self.queue_of(number), self.queue_of(1))

    def test_accepted_by_the_former(self) -> None:
        """Jobs that only the former master knew are no jobs any more; others have their ids."""
        self.cut_off()
        lost = [self.first.submit_job([delay(0.0)]) for _ in range(3)]
        self.assertIn(f"job-{lost[-1]}", self.queue_of(1))
        self.succeed()
        self.assert_same()
        self.assertEqual([self.luxi().submit_job([delay(0.0)]) for _ in lost], lost)
        self.cluster.pass_time(20)
        self.assert_same()
        self.cluster.run(failover(self.cluster.daemons[self.cluster.node(3).name], lambda line: None))
        self.cluster.pass_time(60)
        self.assertEqual(self.cluster.master, self.cluster.node(3))
