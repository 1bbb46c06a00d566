"""What a call does to an instance when it comes again, after others have been done that were sent after it."""

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevCreate
from ganeti_tx.rpc.calls.instance import InstanceReboot, InstanceShutdown, InstanceStart
from ganeti_tx.test.inprocess.failover_case import FailoverCase
from ganeti_tx.test.inprocess.master_service import failover
from ganeti_tx.test.inprocess.network import LATENCY, Fault, Twice

NAME = "web1.example.com"
NODE = "node3.example.com"


def again(kind: type[NodeCall[object]], after: float) -> Fault:
    """Calls of a kind come a second time, so many seconds later."""
    return lambda node, call: Twice(after) if isinstance(call, kind) else None


class LateCallTests(FailoverCase):
    """An instance that is up, in a cluster whose nodes vote."""

    def setUp(self) -> None:
        super().setUp()
        self.ok("gnt-instance add -t file -s 1G -o noop -n node3 web1")

    def during(self, fault: Fault, line: str) -> None:
        """A command, while something is wrong with the network."""
        self.cluster.network.fault = fault
        self.ok(line)
        self.cluster.network.fault = None

    def assert_up(self) -> None:
        """The instance runs."""
        self.assertEqual(self.cluster.running(), {NODE: [NAME]})

    def test_shutdown(self) -> None:
        """A shutdown that comes again after the next start stops nothing."""
        self.during(again(InstanceShutdown, 30.0), "gnt-instance shutdown web1")
        self.ok("gnt-instance startup web1")
        self.cluster.pass_time(60)
        self.assert_up()

    def test_shutdown_of_a_removed_instance(self) -> None:
        """One that is made anew under the same name is another instance."""
        self.during(again(InstanceShutdown, 30.0), "gnt-instance remove -f web1")
        self.ok("gnt-instance add -t file -s 1G -o noop -n node3 web1")
        self.cluster.pass_time(60)
        self.assert_up()

    def test_start(self) -> None:
        """A start that comes again after a shutdown starts nothing; nor does a reboot."""
        self.ok("gnt-instance shutdown web1")
        self.during(again(InstanceStart, 30.0), "gnt-instance startup web1")
        self.during(again(InstanceReboot, 30.0), "gnt-instance reboot -t hard web1")
        self.ok("gnt-instance shutdown web1")
        self.cluster.pass_time(60)
        self.assertEqual(self.cluster.running(), {})

    def test_creation_of_a_disk(self) -> None:
        """One that comes again after the removal creates nothing."""
        self.during(again(BlockdevCreate, 30.0), "gnt-instance add -t file -s 1G -o noop -n node3 web2")
        self.ok("gnt-instance remove -f web2")
        self.cluster.pass_time(60)
        self.assertEqual(len(self.cluster.disks()[NODE]), 1)

    def test_creation_of_a_disk_overtaken(self) -> None:
        """One that comes after its own double is refused; what the double has created is taken back."""
        self.cluster.network.fault = again(BlockdevCreate, -LATENCY)
        self.fails("gnt-instance add -t file -s 1G -o noop -n node3 web2", "could not create disk/0")
        self.cluster.network.fault = None
        self.cluster.pass_time(60)
        self.assertEqual(len(self.cluster.disks()[NODE]), 1)

    def test_former_master(self) -> None:
        """What a former master sent is not done any more when the node knows its successor."""
        self.during(again(InstanceShutdown, 300.0), "gnt-instance shutdown web1")
        self.cluster.run(failover(self.cluster.daemons[self.cluster.node(2).name], lambda line: None))
        self.ok("gnt-instance startup web1")
        self.cluster.pass_time(400)
        self.assert_up()
