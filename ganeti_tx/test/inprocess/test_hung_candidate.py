"""A candidate whose node daemon takes calls and never answers them, as one does that was stopped by a signal."""

from collections.abc import Callable
from functools import partial
from typing import Any

from ganeti_tx.queue.copies.replication import TIMEOUT
from ganeti_tx.rpc.calls.queue import JobqueueUpdate
from ganeti_tx.test.inprocess.case import ClusterCase, delay
from ganeti_tx.test.inprocess.commands import DrivingClient
from ganeti_tx.test.inprocess.test_slots import limit_running

TAG: dict[str, Any] = {"OP_ID": "OP_TAGS_SET", "kind": "cluster", "reason": []}
#: Simulated seconds that something takes when nobody is waited for.
SOON = 1.0


def tag(name: str) -> dict[str, Any]:
    """An opcode that changes the configuration."""
    return {**TAG, "tags": [name]}


class HungCandidateTests(ClusterCase):
    """Node3 hangs."""

    def hang(self, seconds: float) -> None:
        """Its daemon does nothing for a while."""
        self.cluster.pass_time(5)
        daemon = self.cluster.node(3).daemon
        assert daemon is not None
        daemon.stall(seconds)

    def seconds(self, work: Callable[[], object]) -> float:
        """How long something takes."""
        began = self.cluster.time.seconds()
        work()
        return self.cluster.time.seconds() - began

    def submit(self, luxi: DrivingClient, name: str, jobs: list[int]) -> None:
        """One more job that changes the configuration."""
        jobs.append(luxi.submit_job([tag(name)]))

    def queue_of(self, number: int) -> dict[str, bytes]:
        """A node's copy of the queue."""
        disk, directory = self.cluster.node(number).disk, self.cluster.paths.queue_dir
        return {name: disk.read(directory / name, 1 << 20) for name in disk.listdir(directory) if name != "archive"}

    def assert_same(self) -> None:
        """The candidates have what the master has."""
        for number in (2, 3):
            self.assertEqual(self.queue_of(number), self.queue_of(1), f"node{number}")
            config = [
                self.cluster.node(each).disk.read(self.cluster.paths.config_file, 1 << 24) for each in (1, number)
            ]
            self.assertEqual(config[0], config[1], f"node{number}")

    def test_submissions(self) -> None:
        """The first submission waits for a few seconds, those that follow do not, and all that was missed comes later."""
        luxi = self.luxi()
        self.hang(40.0)
        jobs: list[int] = []
        self.assertLessEqual(self.seconds(lambda: jobs.append(luxi.submit_job([delay(0.0)]))), TIMEOUT + SOON)
        for number in range(5):
            self.assertLess(self.seconds(partial(self.submit, luxi, f"t{number}", jobs)), SOON)
        self.cluster.pass_time(5)
        self.assertEqual(set(self.statuses(*jobs)), {"success"})
        self.cluster.pass_time(60)
        self.assert_same()
        self.assertLess(self.seconds(lambda: luxi.submit_job([delay(0.0)])), SOON)

    def test_hangs_long(self) -> None:
        """Nobody waits either while calls time out and the candidate is tried again; it gets everything when it is back."""
        luxi = self.luxi()
        self.hang(900.0)
        luxi.submit_job([delay(0.0)])
        for number in range(40):
            self.cluster.pass_time(20)
            self.assertLess(self.seconds(partial(self.submit, luxi, f"t{number}", [])), SOON)
        self.cluster.pass_time(600)
        self.assert_same()

    def test_jobs(self) -> None:
        """Processes of jobs hear whom nobody waits for, so that they are free for the next job as soon as one has ended."""
        self.ok("gnt-cluster modify --max-running-jobs 1")
        luxi = self.luxi()
        self.hang(50.0)
        jobs = [luxi.submit_job([delay(0.0)])]
        for name in ("one", "two", "three"):
            self.submit(luxi, name, jobs)
        self.cluster.pass_time(2 * SOON)
        self.assertEqual(set(self.statuses(*jobs)), {"success"})
        self.cluster.pass_time(100)
        senders = {sent.caller for sent in self.cluster.network.sent if isinstance(sent.call, JobqueueUpdate)}
        self.assertTrue(any(name.startswith("runner") for name in senders))
        self.assert_same()

    def test_drain_flag(self) -> None:
        """Draining the queue waits no longer, and the candidate has the flag in the end."""
        self.hang(40.0)
        self.assertLessEqual(self.seconds(lambda: self.ok("gnt-cluster queue drain")), TIMEOUT + SOON)
        self.cluster.pass_time(60)
        self.assertIn("drain", self.queue_of(3))
        self.ok("gnt-cluster queue undrain")

    def test_distribution(self) -> None:
        """Who must know that the configuration is everywhere waits no longer than that, and the next one not at all."""
        self.hang(50.0)
        for most, limit in ((TIMEOUT, 7), (0.0, 8)):
            limit_running(self.cluster, limit)
            self.assertLessEqual(self.seconds(self.distributed), most + SOON)
        self.cluster.pass_time(100)
        self.assert_same()

    def distributed(self) -> None:
        """Wait for the distribution."""
        self.cluster.run(self.cluster.wconfd.distributor.when_distributed())
