"""What becomes of an instance that its user has shut down when something else is done with it: it stays down."""

import msgspec

from ganeti_tx.rpc.calls.guest import InstanceFreeze
from ganeti_tx.rpc.calls.instance import InstanceShutdown
from ganeti_tx.rpc.calls.mirror import BlockdevSnapshot
from ganeti_tx.test.inprocess.agreement import disagreements
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster
from ganeti_tx.test.inprocess.network import Trouble

ADD = "gnt-instance add -t {} --disk 0:size=1G{} -o noop -n {} web1"
NAME = "web1.example.com"


class UserDownCase(ClusterCase):
    """Something of its machine is on node2, and tells that."""

    def powered_off(self, template: str, more: str = "", nodes: str = "node2") -> None:
        """It was to run, and its user has shut it down."""
        self.ok(ADD.format(template, more, nodes))
        self.power_off()
        self.assertEqual(self.fields("status,admin_state"), ["USER_down", "up"])

    def power_off(self) -> None:
        """As its user does."""
        node = self.cluster.node(2)
        path = node.paths.run_dir / "fake-hypervisor" / NAME
        machine = msgspec.json.decode(node.disk.read(path, 1 << 20))
        put(node.disk, path, msgspec.json.encode({**machine, "powered_off": True}))

    def fields(self, names: str) -> list[str]:
        """Of the instance."""
        return self.ok(f"gnt-instance list --no-headers -o {names} web1").split()

    def stays_down(self, node: str) -> None:
        """As the watcher would have left it: recorded so, its disks down, and nothing of its machine anywhere."""
        self.assertEqual(self.fields("status,admin_state,pnode"), ["USER_down", "down", f"{node}.example.com"])
        [instance] = self.cluster.config.instances.values()
        self.assertFalse(instance.disks_active)
        self.assertEqual((self.cluster.running(), disagreements(self.cluster)), ({}, []))


class UserDownTests(UserDownCase):
    """Disks that are files."""

    def test_export(self) -> None:
        """With a shutdown, which ends its machine."""
        self.powered_off("file")
        self.ok("gnt-backup export -n node3 web1")
        self.stays_down("node2")

    def test_export_without_shutdown(self) -> None:
        """Its machine stays. Images that this has open are read from a snapshot, though no guest has to stand still for it."""
        self.powered_off("file")
        self.ok("gnt-backup export --noshutdown -n node3 web1")
        self.ok("gnt-instance remove -f web1")
        self.powered_off("file", ",format=qcow2")
        before = len(self.cluster.network.sent)
        self.ok("gnt-backup export --noshutdown -n node3 web1")
        sent = [type(each.call) for each in self.cluster.network.sent[before:]]
        self.assertEqual((sent.count(BlockdevSnapshot), sent.count(InstanceFreeze)), (1, 0))
        self.assertEqual(self.fields("status,admin_state"), ["USER_down", "up"])

    def test_export_and_removal(self) -> None:
        """Nothing is left of it, as nothing runs that would have to be shut down."""
        self.powered_off("file")
        self.ok("gnt-backup export --noshutdown --remove-instance -n node3 web1")
        self.assert_nothing_left(self.cluster)

    def test_failover(self) -> None:
        """It is on its new node, and not started there."""
        self.powered_off("sharedfile")
        self.ok("gnt-instance failover -f -n node3 web1")
        self.stays_down("node3")

    def test_answer_lost(self) -> None:
        """So it is recorded, too, when nobody hears that what was left of its machine has ended."""
        self.powered_off("sharedfile")
        self.cluster.network.fault = lambda _, call: Trouble.BROKEN if isinstance(call, InstanceShutdown) else None
        self.fails("gnt-instance failover -f -n node3 web1", "")
        self.cluster.network.fault = None
        self.assertEqual(self.fields("admin_state,pnode"), ["down", "node2.example.com"])
        self.assertEqual(self.cluster.running(), {})

    def test_migration(self) -> None:
        """So it is when a migration falls back to that; else it cannot be migrated, and nothing is done."""
        self.powered_off("sharedfile")
        self.fails("gnt-instance migrate -f -n node3 web1", "wrong_state.*\n.*is not running")
        self.assertEqual(self.fields("status,admin_state"), ["USER_down", "up"])
        self.ok("gnt-instance migrate -f --allow-failover -n node3 web1")
        self.stays_down("node3")

    def test_move(self) -> None:
        """With its disks."""
        self.powered_off("file")
        self.ok("gnt-instance move -f -n node3 web1")
        self.stays_down("node3")

    def test_conversion(self) -> None:
        """What has its images open must be gone before they are converted; that is told before anything is made."""
        self.ok(ADD.format("file", ",format=qcow2", "node2"))
        for line in ("gnt-node modify -f -O yes node2", "gnt-instance shutdown --ignore-offline web1"):
            self.ok(line)
        self.ok("gnt-node modify -f -O no node2")
        self.power_off()
        line = "gnt-instance modify -t sharedfile web1"
        self.fails(line, f"wrong_state.*\n.*node2.*cannot change disk template; 'gnt-instance shutdown {NAME}'")
        self.ok("gnt-instance shutdown web1")
        self.ok(line)


class MirroredTests(UserDownCase):
    """Disks that are mirrored on node3."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, self.wire = mirrored_cluster()
        self.wire.rate = 1000.0
        self.addCleanup(cluster.end)
        return cluster

    def test_failover(self) -> None:
        """To its secondary node, whose copies must be whole."""
        self.powered_off("drbd", nodes="node2:node3")
        self.wire.split(*(self.cluster.node(number).address for number in (2, 3)))
        self.fails("gnt-instance failover -f web1", "wrong_state.*\n.*disk/0 .* is degraded on node node3")
        self.assertEqual(self.fields("status,admin_state"), ["USER_down", "up"])
        self.wire.mend(*(self.cluster.node(number).address for number in (2, 3)))
        self.cluster.pass_time(30.0)
        self.ok("gnt-instance failover -f web1")
        self.stays_down("node3")

    def test_new_pair(self) -> None:
        """To a node that has no copy yet."""
        self.powered_off("drbd", nodes="node2:node3")
        self.ok("gnt-instance failover -f -n node1 --secondary-node node3 web1")
        self.stays_down("node1")
