"""The cluster's events over the real Remote API: nothing is missing and nothing comes twice, whatever is lost or killed."""

import json
import signal

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.event_reader import EventReader
from ganeti_tx.test.real.programs import SmallCluster, is_gone

LOGIN = "reader:let-me-read"
NAME = "web1.dev.example"
INSTANCE = (
    *("-n", "node1.dev.example", "-o", "busybox+default", "-t", "diskless", "--no-install"),
    *("--no-name-check", "--no-ip-check", NAME),
)
ON_MASTER = ("ganeti-wconfd", "ganeti-luxid")


class EventCase(SynchronousTestCase):
    """A cluster of one node with the fake hypervisor."""

    def setUp(self) -> None:
        self.cluster = SmallCluster()
        self.addCleanup(self.cluster.close)
        self.cluster.init()
        self.paths = Paths(self.cluster.node.root)
        self.paths.rapi_users_file.parent.mkdir(parents=True, exist_ok=True)
        self.paths.rapi_users_file.write_text(LOGIN.replace(":", " ") + " read\n")

    def start_rapi(self) -> None:
        """Start the Remote API unless it runs; it is there when this returns."""
        if not self.paths.pid_file("ganeti-rapi").exists() or is_gone(self.cluster.process("ganeti-rapi")):
            self.cluster.must("ganeti-rapi")

    def reader(self, query: str = "") -> EventReader:
        """A reader that is connected."""
        reader = EventReader(self.cluster.node.address, LOGIN, query)
        reader.connect()
        self.addCleanup(reader.drop)
        return reader

    def delay(self) -> int:
        """Submit a job that takes a moment; its number."""
        return self.cluster.submit("gnt-debug", "delay", "0.05")


class EventTests(EventCase):
    """luxid and WConfD in one process."""

    def test_losses(self) -> None:
        """Connections dropped, the Remote API killed and started again: two readers have the same events, without a hole."""
        self.start_rapi()
        steady, shaky = self.reader(), self.reader()
        jobs = [self.delay()]
        shaky.wait(kind="job", job=jobs[0], status="success")
        shaky.drop()
        self.cluster.must("gnt-instance", "add", *INSTANCE)
        shaky.connect()
        jobs.append(self.delay())
        self.cluster.end("ganeti-rapi", signal.SIGKILL)
        steady.wait_for_end()
        shaky.wait_for_end()
        jobs.append(self.delay())
        self.cluster.must("gnt-instance", "remove", "--force", NAME)
        self.start_rapi()
        steady.connect()
        shaky.connect()
        jobs.append(self.delay())
        for reader in (steady, shaky):
            for job in jobs:
                reader.wait(kind="job", job=job, change="received")
                reader.wait(kind="opcode", job=job, status="success")
                reader.wait(kind="job", job=job, status="success")
            for change in ("added", "removed"):
                reader.wait(kind="instance", name=NAME, change=change)
            numbers = reader.numbers()
            self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        self.assertEqual(steady.events, shaky.events)

    def test_restart_of_the_master(self) -> None:
        """A master daemon that was killed does not know what was before: readers are told so, and go on."""
        self.start_rapi()
        steady, shaky = self.reader(), self.reader("?kind=job")
        first = self.delay()
        for reader in (steady, shaky):
            reader.wait(kind="job", job=first, status="success")
        shaky.drop()
        self.cluster.end("ganeti-master", signal.SIGKILL)
        self.cluster.must("ganeti-master")
        shaky.connect()
        for reader in (steady, shaky):
            reader.wait(kind="gap", reason="restart")
        second = self.delay()
        for reader in (steady, shaky):
            reader.wait(kind="job", job=second, status="success")
            self.assertEqual([event.event for event in reader.events].count("gap"), 1)
        self.assertEqual({event.event for event in shaky.events}, {"job", "gap"})


class ApartTests(EventCase):
    """luxid and WConfD as processes of their own."""

    def test_apart(self) -> None:
        """Changes of the configuration reach luxid through its file, those of jobs as ever."""
        self.cluster.end("ganeti-master", signal.SIGTERM)
        for daemon in ON_MASTER:
            self.cluster.must(daemon)
        self.start_rapi()
        reader, his = self.reader(), self.reader("?object=web1")
        self.cluster.must("gnt-instance", "add", *INSTANCE)
        reader.wait(kind="instance", name=NAME, change="added")
        self.delay()
        self.cluster.must("gnt-instance", "add-tags", NAME, "blue")
        for each in (reader, his):
            each.wait(kind="job", change="received", summary=[f"INSTANCE_CREATE({NAME})"])
            each.wait(kind="instance", name=NAME, change="changed", fields=["tags"])
        self.assertNotIn("OP_TEST_DELAY", {json.loads(event.data).get("op_id") for event in his.events})
        self.cluster.end("ganeti-wconfd", signal.SIGKILL)
        self.cluster.must("ganeti-wconfd")
        self.cluster.must("gnt-instance", "remove", "--force", NAME)
        his.wait(kind="instance", name=NAME, change="removed")
        numbers = reader.numbers()
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
