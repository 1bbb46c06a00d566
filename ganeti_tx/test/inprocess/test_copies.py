"""The copies of the job queue on the candidates: the same bytes as the master's, whenever a candidate came."""

from random import Random

from ganeti_tx.rpc.calls.queue import JobqueueDigests, JobqueueSetDrainFlag, JobqueueSweep, JobqueueUpdate
from ganeti_tx.test.inprocess.case import ClusterCase, delay
from ganeti_tx.test.inprocess.network import Trouble


class Unlucky(Random):
    """Whatever can be lost is."""

    def random(self) -> float:
        return 0.0


class CopiesTests(ClusterCase):
    """A cluster of three candidates, and a fourth to come."""

    def queue_of(self, number: int) -> dict[str, bytes]:
        """What a node has in its queue directory, but the directories and what stays on the master."""
        disk, directory = self.cluster.node(number).disk, self.cluster.paths.queue_dir
        return {name: disk.read(directory / name, 1 << 20) for name in disk.listdir(directory) if name != "archive"}

    def assert_same(self, *numbers: int, after: float = 10) -> None:
        """These nodes have what the master has, byte for byte."""
        self.cluster.pass_time(after)
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
        """A candidate that could not be reached is given what it missed once it is back, though nothing else happens."""
        node3 = self.cluster.node(3)
        self.cluster.network.cut_off.add(node3.address)
        self.ok("gnt-cluster add-tags one")
        self.ok("gnt-cluster add-tags two")
        self.luxi().call("SetDrainFlag", [True])
        self.assertNotIn("job-1", self.queue_of(3))
        self.cluster.pass_time(3600)
        self.cluster.network.cut_off.clear()
        self.assert_same(2, 3, after=45)
        self.assertIn("drain", self.queue_of(3))

    def test_missed_archival(self) -> None:
        """Jobs that were archived while a candidate was away are archived there too."""
        self.ok("gnt-cluster add-tags one")
        self.ok("gnt-cluster add-tags two")
        self.cluster.pass_time(10)
        self.assertIn("job-1", self.queue_of(3))
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        self.ok("gnt-job archive 1")
        self.cluster.pass_time(120)
        self.assertIn("job-1", self.queue_of(3))
        self.cluster.network.cut_off.clear()
        self.assert_same(2, 3, after=45)
        self.assertTrue(self.cluster.node(3).disk.exists(self.cluster.paths.archived_job_file(1)))

    def test_lost_last_copy(self) -> None:
        """The copy of a job's end that was lost on its way is noticed, though luxid itself never failed to send any."""
        lost: list[str] = []

        def fault(node: str, call: object) -> Trouble | None:
            ends = isinstance(call, JobqueueUpdate) and any('"success"' in data for _, data in call.files)
            if node != "node3.example.com" or not ends or lost:
                return None
            lost.append(node)
            return Trouble.REFUSED

        self.cluster.network.fault = fault
        self.ok("gnt-cluster add-tags one")
        self.cluster.pass_time(1)
        self.assertEqual(lost, ["node3.example.com"])
        self.assert_same(2, 3, after=60)

    def test_what_is_there_is_not_sent(self) -> None:
        """A luxid that starts compares; it sends the candidates nothing that they have."""
        self.ok("gnt-cluster add-tags one")
        self.cluster.pass_time(10)
        self.cluster.kill_luxid()
        before = len(self.cluster.network.sent)
        self.cluster.start_luxid()
        self.assert_same(2, 3)
        kinds = {type(sent.call) for sent in self.cluster.network.sent[before:]}
        self.assertEqual(kinds, {JobqueueDigests, JobqueueSweep, JobqueueSetDrainFlag})

    def test_demoted(self) -> None:
        """A candidate that becomes a regular node keeps nothing, and gets nothing more."""
        self.ok("gnt-cluster add-tags one")
        self.ok("gnt-node modify -C no --auto-promote node3")
        self.ok("gnt-cluster add-tags two")
        self.cluster.pass_time(600)
        self.assertEqual(self.queue_of(3), {})
        self.assertFalse(self.cluster.node(3).disk.exists(self.cluster.paths.config_file))
        self.ok("gnt-node modify -C yes node3")
        self.assert_same(2, 3)
        self.assertTrue(self.cluster.node(3).disk.exists(self.cluster.paths.config_file))

    def test_new_luxid(self) -> None:
        """A luxid that starts brings what an earlier one left undone."""
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        self.ok("gnt-cluster add-tags one")
        self.cluster.network.cut_off.clear()
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.assert_same(2, 3)

    def archived(self, number: int) -> set[str]:
        """The copies of archived jobs on a node."""
        directory = self.cluster.paths.queue_archive_dir / "0"
        disk = self.cluster.node(number).disk
        return set(disk.listdir(directory)) if disk.exists(directory) else set()

    def test_archive(self) -> None:
        """What is archived on the master is archived on the candidates, on one that was away when it comes back."""
        self.ok("gnt-cluster add-tags one")
        self.ok("gnt-cluster add-tags two")
        self.assert_same(2, 3)
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        self.ok("gnt-job autoarchive all")
        self.cluster.pass_time(70)  # until the call is given up
        self.assertEqual(self.archived(1), self.archived(2))
        self.assertTrue(self.archived(1) >= {"job-1", "job-2"})
        self.assertEqual(self.archived(3), set())
        self.cluster.network.cut_off.clear()
        self.assert_same(2, 3, after=120)
        self.assertEqual(self.archived(3), self.archived(1))

    def test_archive_and_new_luxid(self) -> None:
        """A luxid that starts has jobs archived that an earlier one could not have archived everywhere."""
        self.ok("gnt-cluster add-tags one")
        self.cluster.pass_time(10)
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        self.ok("gnt-job archive 1")
        self.cluster.network.cut_off.clear()
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.assert_same(2, 3)
        self.assertIn("job-1", self.archived(3))

    def archive_and_lose_power(self, number: int) -> None:
        """A job is archived, and at once a machine loses its power, and with it all that nobody has made sure of."""
        self.ok("gnt-cluster add-tags one")
        self.cluster.pass_time(10)
        self.ok("gnt-job archive 1")
        self.cluster.pass_time(1)
        self.cluster.lose_power(self.cluster.node(number), Unlucky())
        self.cluster.pass_time(1)
        self.cluster.node(number).boot()

    def test_power_cut_of_candidate(self) -> None:
        """What a candidate has archived stays so, for nobody would ask it again."""
        self.archive_and_lose_power(3)
        self.assert_same(2, 3)
        self.assertIn("job-1", self.archived(3))

    def test_power_cut_of_master(self) -> None:
        """A job that is live again, as the master lost with its power that it was archived, is so on the candidates, too."""
        self.archive_and_lose_power(1)
        self.cluster.start_wconfd()
        self.cluster.start_luxid()
        self.assertIn("job-1", self.queue_of(1))
        self.assert_same(2, 3)

    def test_drained(self) -> None:
        """The drain flag is on every candidate, also on one that was away; jobs that were there go on."""
        job = self.luxi().submit_job([delay(20.0)])
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        self.ok("gnt-cluster queue drain")
        self.assertIn("drain", self.queue_of(2))
        self.assertNotIn("drain", self.queue_of(3))
        self.cluster.network.cut_off.clear()
        self.cluster.kill_luxid()
        self.cluster.start_luxid()
        self.assert_same(2, 3)
        self.assertIn("drain", self.queue_of(3))
        self.cluster.pass_time(60)
        self.assertEqual(self.luxi().query_jobs([job], ["status"]), [["success"]])
        self.ok("gnt-cluster queue undrain")
        self.assert_same(2, 3)
        self.assertNotIn("drain", self.queue_of(3))
