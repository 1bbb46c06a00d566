"""Disks made ready and taken down by hand, by the watcher, and after verification, in a whole cluster."""

from pathlib import Path
from random import Random

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevShutdown
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.mirrored_case import ADD, THREE, MirroredCase
from ganeti_tx.test.inprocess.network import Fault, Says, Trouble
from ganeti_tx.watcher.group import GroupRun
from ganeti_tx.watcher.log import Log
from ganeti_tx.watcher.node import WatchedNode

FILE = "gnt-instance add -t file --disk 0:size=1G --disk 1:size=2G -o noop -H fake -n node2 --no-start --no-name-check"


class FileTests(ClusterCase):
    """Disks that one node has."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(f"{FILE} --no-ip-check web1")

    def active(self) -> bool:
        """What the configuration says."""
        (instance,) = self.cluster.config.instances.values()
        return instance.disks_active

    def test_activated(self) -> None:
        """Each disk is told with its node and its path."""
        told = self.ok("gnt-instance activate-disks web1").splitlines()
        self.assertRegex(told[0], r"^node2.example.com:disk/0:/.*/web1/.*file.disk0$")
        self.assertRegex(told[1], r"^node2.example.com:disk/1:/.*/web1/.*file.disk1$")
        self.assertTrue(self.active())
        self.assertEqual(self.ok("gnt-instance activate-disks --ignore-size web1").splitlines(), told)
        sizes = [each.call.disk.size for each in self.cluster.network.sent if isinstance(each.call, BlockdevAssemble)]
        self.assertEqual(sizes, [1024, 2048, 0, 0])
        self.assertRegex(
            self.ok("gnt-instance activate-disks --wait-for-sync web1"),
            r"(?s)Waiting for instance web1 to sync disks.*disks are in sync\nnode2.example.com:disk/0:",
        )
        self.assertEqual(self.ok("gnt-instance deactivate-disks web1"), "")
        self.assertFalse(self.active())

    def test_lost(self) -> None:
        """Every disk that is not there is told; nothing stays ready, and the configuration says so."""
        self.cluster.node(2).files_storage.disks.clear()
        status, out, err = self.scene().run(["gnt-instance", "activate-disks", "web1"])
        self.assertEqual(status, 1)
        for index in (0, 1):
            prefix = f"WARNING: Could not prepare block device disk/{index} on node node2.example.com"
            self.assertIn(f"{prefix} (is_primary=True, pass=2): ", out)
        self.assertIn("Cannot activate block devices", err)
        self.assertFalse(self.active())

    def test_marked_up(self) -> None:
        """Disks of what runs are taken down only with force."""
        self.ok("gnt-instance startup web1")
        self.fails("gnt-instance deactivate-disks web1", "Instance 'web1' is marked to be up, cannot shutdown disks")
        self.assertTrue(self.active())
        self.ok("gnt-instance deactivate-disks --force web1")
        self.assertFalse(self.active())

    def test_runs_though_down(self) -> None:
        """What runs though it is marked down keeps its disks."""
        self.ok("gnt-instance startup --no-remember web1")
        self.fails("gnt-instance deactivate-disks web1", "Instance 'web1' is running, cannot shutdown disks")

    def test_refused(self) -> None:
        """What is not there, and a node that is offline."""
        self.fails("gnt-instance activate-disks nosuch", "Instance 'nosuch' not known")
        self.fails("gnt-instance deactivate-disks nosuch", "Instance 'nosuch' not known")
        self.ok("gnt-node modify --offline=yes --force node2")
        self.fails("gnt-instance activate-disks web1", "offline node: node2.example.com")

    def test_stays_active(self) -> None:
        """Disks that cannot be taken down are still marked as active."""
        self.ok("gnt-instance activate-disks web1")
        self.cluster.network.fault = lambda node, call: Says("no") if isinstance(call, BlockdevShutdown) else None
        self.fails("gnt-instance deactivate-disks web1", "some disks of instance web1 are still ready")
        self.assertTrue(self.active())


class MirrorTests(MirroredCase):
    """Disks that two nodes have."""

    def setUp(self) -> None:
        super().setUp()
        self.lines: list[str] = []
        self.watched = Paths(Path(self.mktemp()).resolve())
        self.watched.run_dir.mkdir(parents=True)
        self.watched.data_dir.mkdir(parents=True)
        self.ok(f"{ADD} web1")

    def test_both_nodes(self) -> None:
        """They are ready on both nodes, and on none."""
        self.ok("gnt-instance shutdown web1")
        self.assertEqual(self.ready(), [0, 0, 0])
        self.ok("gnt-instance activate-disks web1")
        self.assertEqual(self.ready(), [0, THREE, THREE])
        self.ok("gnt-instance deactivate-disks web1")
        self.assertEqual(self.ready(), [0, 0, 0])

    def test_verified(self) -> None:
        """What a verification finds to be down is made ready."""
        self.reboot_secondary()
        self.assertIn("Activating disks for instance 'web1'", self.ok("gnt-cluster verify-disks"))
        self.assertEqual(self.ready(), [0, THREE, THREE])
        self.assertIn("No disks need to be activated.", self.ok("gnt-cluster verify-disks"))

    def test_watched(self) -> None:
        """The watcher brings the second half back on a node that was booted, and then has nothing to do."""
        self.watch()
        self.reboot_secondary()
        self.watch()
        self.assertEqual(self.ready(), [0, THREE, THREE])
        self.assertIn("OP_INSTANCE_ACTIVATE_DISKS because a node with a disk of web1 was booted", "".join(self.lines))
        before = len(self.lines)
        self.watch()
        self.assertNotIn("ACTIVATE", "".join(self.lines[before:]))

    def test_volume_group(self) -> None:
        """The watcher has the only volume group mended that lacks something, once it has seen all whole."""
        self.cluster.node(2).volume_groups.lacking = True
        self.watch()
        self.assertIn("node2.example.com are broken; they are left to an administrator", self.lines[-1])
        self.cluster.node(2).volume_groups.lacking = False
        self.watch()
        self.cluster.node(2).volume_groups.lacking = True
        self.watch()
        self.assertIn("volume group repair: node node2.example.com is mended", self.lines[-1])
        self.assertFalse(self.cluster.node(2).volume_groups.lacking)

    def watch(self) -> None:
        """One run of the watcher for the only group."""
        node = WatchedNode(
            name=self.cluster.master.name,
            paths=self.watched,
            environ={},
            log=Log("ganeti-watcher", lambda line: self.lines.append(line.decode()), self.cluster.time.seconds),
            now=self.cluster.time.seconds,
            connect=self.luxi,
            run=lambda argv, environment, limit: (-1, ""),
        )
        (group,) = self.cluster.config.nodegroups
        GroupRun(node, self.luxi(), group).run()

    def reboot_secondary(self) -> None:
        """The third node loses its power and comes again."""
        node = self.cluster.node(3)
        self.cluster.lose_power(node, Random(1))
        self.cluster.pass_time(5)
        node.boot()
        self.cluster.pass_time(60)
        self.assertEqual(self.ready(), [0, THREE, 0])

    def test_failures(self) -> None:
        """Whichever call fails, and in whatever way: what was ready stays, what was not is down again; then it succeeds."""
        self.ok("gnt-instance shutdown web1")
        for wrong in (Says("no"), Trouble.REFUSED, Trouble.ANSWER_LOST):
            for name in ("node2.example.com", "node3.example.com"):
                self.cluster.network.fault = self.fault(name, wrong)
                self.fails("gnt-instance activate-disks web1", "Cannot activate block devices")
                self.cluster.network.fault = None
                self.assertEqual(self.ready(), [0, 0, 0], f"{wrong} {name}")
        self.ok("gnt-instance startup web1")
        self.cluster.network.fault = self.fault("node3.example.com", Says("no"))
        self.fails("gnt-instance activate-disks web1", "Cannot activate block devices")
        self.cluster.network.fault = None
        self.assertEqual(self.ready(), [0, THREE, THREE])

    def fault(self, name: str, wrong: Says | Trouble) -> Fault:
        """Trouble when disks are made ready on a node."""

        def found(node: str, call: NodeCall[object]) -> Says | Trouble | None:
            return wrong if node == name and isinstance(call, BlockdevAssemble) else None

        return found
