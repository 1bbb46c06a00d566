"""The metrics of the configuration and of the nodes move when something happens to these."""

from collections.abc import Callable
from random import Random

from ganeti_tx.metrics import config, nodes
from ganeti_tx.metrics.process import PROCESS_METRICS
from ganeti_tx.metrics.rapi import RAPI_METRICS
from ganeti_tx.metrics.table import METRICS
from ganeti_tx.test.inprocess.metrics_case import MetricsCase

NODE1, NODE2, NODE3 = (f"node{number}.example.com" for number in (1, 2, 3))
GIB = 1024**3


class ConfigTests(MetricsCase):
    """The configuration, its writing and its way to the nodes."""

    def test_writes(self) -> None:
        """A change raises the serial number, and its write is counted and timed."""
        before = self.value(config.SERIAL) or 0
        writes = self.value(config.WRITE) or 0
        self.ok("gnt-cluster add-tags one")
        self.assertGreater(self.value(config.SERIAL) or 0, before)
        self.assertGreater(self.value(config.WRITE) or 0, writes)
        self.assertEqual(self.value(config.WRITE), self.value(config.SHARED_BY))

    def test_shared_write(self) -> None:
        """Changes that shared a write are told as such."""
        writes, changes = self.value(config.SHARED_BY) or 0, self.total(config.SHARED_BY)
        luxi = self.luxi()
        for number in range(8):
            luxi.submit_job(
                [{"OP_ID": "OP_TAGS_SET", "kind": "node", "name": NODE2, "tags": [f"t{number}"], "reason": []}]
            )
        self.cluster.pass_time(30)
        self.assertGreaterEqual(self.total(config.SHARED_BY) - changes, 8)
        self.assertLessEqual((self.value(config.SHARED_BY) or 0) - writes, self.total(config.SHARED_BY) - changes)

    def test_behind(self) -> None:
        """A node that does not take the configuration fails, and is behind until it has it."""
        self.cluster.pass_time(5)
        self.assertEqual(self.series(config.BEHIND), {(NODE1,): 0, (NODE2,): 0, (NODE3,): 0})
        self.cluster.node(2).stop()
        self.ok("gnt-cluster add-tags one")
        self.cluster.pass_time(10)
        self.assertGreaterEqual(self.value(config.DISTRIBUTION_FAILURES, NODE2) or 0, 1)
        self.assertIsNone(self.value(config.DISTRIBUTION_FAILURES, NODE3))
        self.assertEqual(self.value(config.BEHIND, NODE2), 1)
        self.cluster.node(2).start()
        self.cluster.pass_time(600)
        self.assertEqual(self.value(config.BEHIND, NODE2), 0)

    def test_wconfd_is_away(self) -> None:
        """Without WConfD what luxid knows is told all the same, soon, and it is told that WConfD is away."""
        self.assertEqual(self.value(config.WCONFD_UP), 1)
        self.cluster.kill_wconfd()
        begun = self.cluster.time.seconds()
        found = self.readings()
        self.assertLess(self.cluster.time.seconds() - begun, 5)
        self.assertEqual([each.value for each in found.values[config.WCONFD_UP.name]], [0])
        self.assertNotIn(config.SERIAL.name, found.values)
        self.assertIn(nodes.UP.name, found.values)
        self.cluster.start_wconfd()
        self.assertEqual(self.value(config.WCONFD_UP), 1)


class NodeTests(MetricsCase):
    """What nodes say of themselves, and how they answer."""

    def test_sizes(self) -> None:
        """Memory, disk and processors of each node, in base units."""
        self.assertEqual(self.value(nodes.MEMORY, NODE2), 8 * GIB)
        self.assertEqual(self.value(nodes.MEMORY_FREE, NODE2), 6 * GIB)
        self.assertEqual(self.value(nodes.DISK, NODE2), 1024 * GIB)
        self.assertEqual(self.value(nodes.CPUS, NODE2), 4)

    def test_roles(self) -> None:
        """Nodes are counted by their role."""
        self.ok("gnt-node modify --drained yes node3")
        found = self.series(nodes.NODES)
        self.assertEqual((found["master",], found["drained",], found["offline",]), (1, 1, 0))
        self.assertEqual(sum(found.values()), 3)

    def test_instances(self) -> None:
        """Instances are counted on their primary node, by their status."""
        self.ok("gnt-instance add -t diskless -o noop -n node2 --no-name-check --no-ip-check web1")
        self.cluster.pass_time(30)
        self.assertEqual(self.series(nodes.INSTANCES), {(NODE2, "running"): 1})
        self.ok("gnt-instance shutdown web1")
        self.cluster.pass_time(30)
        self.assertEqual(self.series(nodes.INSTANCES), {(NODE2, "ADMIN_down"): 1})
        self.ok("gnt-instance remove -f web1")
        self.cluster.pass_time(30)
        self.assertEqual(self.series(nodes.INSTANCES), {})

    def away(self, take: Callable[[], None]) -> None:
        """A node that does not answer is down, in time, and nothing else is told of it."""
        self.cluster.pass_time(5)
        take()
        begun = self.cluster.time.seconds()
        self.assertEqual(self.series(nodes.UP), {(NODE1,): 1, (NODE2,): 0, (NODE3,): 1})
        self.assertLess(self.cluster.time.seconds() - begun, 6)
        for gauge in (nodes.MEMORY, nodes.DISK, nodes.CPUS):
            self.assertIsNone(self.value(gauge, NODE2))
        self.assertEqual(self.series(nodes.FAILURES), {(NODE2, "node_info", "unreachable"): 1})

    def test_daemon_is_away(self) -> None:
        """A machine without its node daemon says no at once."""
        self.away(self.cluster.node(2).stop)

    def test_machine_is_away(self) -> None:
        """A machine without power says nothing at all."""
        self.away(lambda: self.cluster.node(2).lose_power(Random(1)))

    def test_offline(self) -> None:
        """An offline node is not asked, so that it is neither up nor down."""
        self.ok("gnt-node modify --offline yes node3")
        self.assertEqual(self.series(nodes.UP), {(NODE1,): 1, (NODE2,): 1})

    def test_no_instances(self) -> None:
        """A node that may run no instances is up as well; its sizes are nobody's business."""
        self.ok("gnt-node modify --vm-capable no node3")
        self.assertEqual(self.series(nodes.UP), {(NODE1,): 1, (NODE2,): 1, (NODE3,): 1})
        self.assertIsNone(self.value(nodes.MEMORY, NODE3))

    def test_asked_seldom(self) -> None:
        """What nodes said is shown again for some seconds, and its age told; then they are asked once more."""
        for _ in range(3):
            self.readings()
        self.assertEqual(self.value(nodes.CALLS, NODE2, "node_info"), 1)
        self.cluster.pass_time(10)
        self.assertApproximates(self.value(nodes.AGE), 10, 1)
        self.cluster.pass_time(10)
        self.assertEqual(self.value(nodes.CALLS, NODE2, "node_info"), 2)
        self.assertApproximates(self.value(nodes.AGE), 0, 1)

    def test_removed(self) -> None:
        """A node that was removed leaves no series behind, so that names of nodes do not pile up."""
        self.cluster.pass_time(5)
        self.assertIn(NODE3, {labels[0] for labels in self.series(nodes.CALLS)})
        self.ok("gnt-node remove node3")
        self.cluster.pass_time(30)
        left = [name for name, labels in self.labels() if NODE3 in labels]
        self.assertEqual(left, [])


class PageTests(MetricsCase):
    """What luxid sends."""

    def test_only_known_metrics(self) -> None:
        """Whatever is sent is in the table, with as many label values as it has labels."""
        self.ok("gnt-cluster add-tags one")
        for name, labels in self.labels():
            self.assertEqual(len(labels), len(METRICS[name].labels), name)

    def test_every_metric(self) -> None:
        """Every metric of the table that a healthy cluster can have is there once something has been done."""
        self.ok("gnt-instance add -t diskless -o noop -n node2 --no-name-check --no-ip-check web1")
        self.cluster.pass_time(30)
        found = self.readings()
        missing = set(METRICS) - set(found.values) - set(found.spreads) - set(PROCESS_METRICS) - set(RAPI_METRICS)
        self.assertEqual(
            missing,
            {
                "ganeti_config_distribution_failures_total",
                "ganeti_luxi_request_failures_total",
                "ganeti_node_call_failures_total",
            },
        )
        self.ok("gnt-instance remove -f web1")
