"""The copies of the job queue on the candidates: the same bytes as the master's, whenever a candidate came."""

from ganeti_tx.test.inprocess.case import ClusterCase, delay


class CopiesTests(ClusterCase):
    """A cluster of three candidates, and a fourth to come."""

    def queue_of(self, number: int) -> dict[str, bytes]:
        """What a node has in its queue directory, but the directories and what stays on the master."""
        disk, directory = self.cluster.node(number).disk, self.cluster.paths.queue_dir
        return {name: disk.read(directory / name, 1 << 20) for name in disk.listdir(directory) if name != "archive"}

    def assert_same(self, *numbers: int) -> None:
        """These nodes have what the master has, byte for byte."""
        self.cluster.pass_time(10)
        wanted = self.queue_of(1)
        self.assertIn("serial", wanted)
        for number in numbers:
            self.assertEqual(self.queue_of(number), wanted, f"node{number}")

    def test_from_the_beginning(self) -> None:
        """Each candidate has the jobs, the serial number and the version."""
        self.ok("gnt-cluster add-tags one")
        self.assert_same(2, 3)

    def test_new_candidate(self) -> None:
        """A node that becomes a candidate is given the jobs that were there before it, also one that still runs."""
        self.ok("gnt-cluster add-tags one")
        self.luxi().submit_job([delay(100.0)])
        self.ok("gnt-node add node4")
        self.assertTrue(self.scene().field("node", "node4", "master_candidate"))
        self.cluster.pass_time(120)
        self.assert_same(2, 3, 4)

    def test_candidate_that_was_away(self) -> None:
        """A candidate that could not be reached is given what it missed when the next job runs."""
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        self.ok("gnt-cluster add-tags one")
        self.ok("gnt-cluster add-tags two")
        self.assertNotIn("job-1", self.queue_of(3))
        self.cluster.network.cut_off.clear()
        self.ok("gnt-cluster add-tags three")
        self.assert_same(2, 3)

    def test_new_luxid(self) -> None:
        """A luxid that starts brings what an earlier one left undone."""
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        self.ok("gnt-cluster add-tags one")
        self.cluster.network.cut_off.clear()
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.assert_same(2, 3)
