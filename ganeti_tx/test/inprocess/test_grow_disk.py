"""Growing disks in a whole cluster: on files and mirrors, of what is down and what runs."""

from ganeti_tx.model.disk import Disk
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevGrow, BlockdevGrown, BlockdevWipe
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation
from ganeti_tx.test.inprocess.mirrored_case import ADD, THREE, MirroredCase
from ganeti_tx.test.inprocess.network import Fault, Says

FILE = (
    "gnt-instance add -t file --disk 0:size=1G --disk 1:size=2G -o noop -H fake -n node2 --no-name-check --no-ip-check"
)
GROW = "gnt-instance grow-disk web1 0 512m"


def refuses(kind: type[NodeCall[object]], name: str, nth: int = 0) -> Fault:
    """A node that says no to the n-th call of a kind."""
    seen = iter(range(1000))

    def fault(node: str, call: NodeCall[object]) -> Says | None:
        return Says("no") if node == name and isinstance(call, kind) and next(seen) == nth else None

    return fault


class FileTests(ClusterCase):
    """Disks that one node has."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(f"{FILE} --no-start web1")

    def sizes(self) -> tuple[int, int]:
        """Of the first disk: what is recorded, and what is on the node."""
        (found,) = [disk for key, disk in self.cluster.node(2).files_storage.disks.items() if key.endswith("disk0")]
        return self.disk().size, found.size

    def disk(self) -> Disk:
        """The first disk as it is configured."""
        (disk,) = [disk for disk in self.cluster.config.disks.values() if disk.iv_name == "disk/0"]
        return disk

    def test_grown(self) -> None:
        """By an amount, or to it."""
        told = self.ok(GROW)
        self.assertRegex(told, "Growing disk 0 of instance 'web1' by 512M to 1.5G")
        self.assertRegex(told, "Waiting for instance web1 to sync disks")
        self.assertRegex(told, "Instance web1's disks are in sync")
        self.assertEqual(self.sizes(), (1536, 1536))
        self.assertIn("by 512M to 2.0G", self.ok("gnt-instance grow-disk --absolute web1 0 2g"))
        self.assertEqual(self.sizes(), (2048, 2048))

    def test_not_waited_for(self) -> None:
        """A disk that is not waited for stays ready, which is told for one that is not active."""
        warning = "WARNING: Not shutting down the disk even if the instance is not supposed to be running"
        self.assertIn(warning, self.ok(GROW.replace("disk ", "disk --no-wait-for-sync ")))
        self.ok("gnt-instance startup web1")
        self.assertNotIn("WARNING", self.ok(GROW.replace("disk ", "disk --no-wait-for-sync ")))

    def test_refused(self) -> None:
        """What makes no sense, what the policy forbids, and what has no room: nothing is changed."""
        before = self.cluster.config
        self.cluster.node(2).files_storage.total = 4096
        for words, reason in (
            ("web1 0 12Q", "wrong_input, error details:\nCan't parse the given amount '12Q'"),
            ("web1 0 -5M", "Can't parse the given amount '-5M'"),
            ("web1 x 16M", "Invalid disk index: .*'x'"),
            ("web1 7 16M", r"Invalid disk index: 7 \(instance has disks 0 to 1\)"),
            ("web1 17 16M", "disk"),
            ("--absolute web1 0 10M", r"wrong_state.*\n.*Requested size \(12M\) is smaller than .* \(1.0G\)"),
            (
                "web1 0 9000G",
                r"wrong_input.*\n.*Growing disk 0 violates policy: disk-size/0 value \d+ is not in range \[1024, \d+\]",
            ),
            ("web1 0 90G", "insufficient_resources.*\n.*not enough room .* needed 92160 MiB, free 1024 MiB"),
            ("nosuch 0 16M", "unknown_entity"),
        ):
            self.fails(f"gnt-instance grow-disk {words}", reason)
        self.assertEqual(self.cluster.config, before)

    def test_policy_ignored(self) -> None:
        """Who wants it all the same is warned."""
        self.cluster.node(2).files_storage.total = 1 << 40
        told = self.ok("gnt-instance grow-disk --ignore-ipolicy web1 0 9000G")
        self.assertIn("WARNING: Growing disk 0 violates policy", told)

    def test_fails(self) -> None:
        """A node that cannot: nothing is recorded."""
        self.cluster.network.fault = refuses(BlockdevGrow, "node2.example.com", 1)
        self.fails(
            GROW, "could not grow disk/0 of instance web1 everywhere .*: .*no.* the same request goes on from there"
        )
        self.assertEqual(self.sizes(), (1024, 1024))

    def test_grown_but_not_recorded(self) -> None:
        """The same request does not grow twice what has grown already."""
        (found,) = [disk for key, disk in self.cluster.node(2).files_storage.disks.items() if key.endswith("disk0")]
        found.size = 1536
        self.ok(GROW)
        self.assertEqual(self.sizes(), (1536, 1536))

    def test_instance_is_told(self) -> None:
        """The node of an instance that runs tells it; who cannot be told is warned of."""
        self.ok("gnt-instance startup web1")
        self.ok(GROW)
        told = [
            (each.node, each.call.disk.size)
            for each in self.cluster.network.sent
            if isinstance(each.call, BlockdevGrown)
        ]
        self.assertEqual(told, [("node2.example.com", 1536)])
        self.cluster.network.fault = refuses(BlockdevGrown, "node2.example.com")
        self.assertIn("sees the new size of its disk only when it is started again", self.ok(GROW))

    def test_wiped(self) -> None:
        """What is new is wiped in a cluster that wipes, before the size is recorded."""
        self.ok("gnt-cluster modify --prealloc-wipe-disks=yes")
        told = self.ok(GROW)
        self.assertIn("* Wiped 1.5G of 1.5G of disk/0 of instance web1", told)
        wiped = [call.argv for call in self.cluster.node(2).scripts.calls if call.argv[0] == "dd"]
        self.assertEqual([argv[4:6] for argv in wiped], [
            ("seek=1024", "count=153"), ("seek=1177", "count=153"), ("seek=1330", "count=153"), ("seek=1483", "count=53"),
        ])  # fmt: skip
        self.cluster.network.fault = refuses(BlockdevWipe, "node2.example.com", 1)
        self.fails(GROW, "could not wipe disk/0 of instance web1: .*no")
        self.assertEqual(self.sizes(), (1536, 2048))
        self.cluster.network.fault = None
        self.assertNotIn("as recorded", self.ok(GROW))
        self.assertEqual(self.sizes(), (2048, 2048))

    def test_longer_is_not_wiped(self) -> None:
        """A guest may have data in what its disk had more than was recorded."""
        self.ok("gnt-cluster modify --prealloc-wipe-disks=yes")
        (found,) = [disk for key, disk in self.cluster.node(2).files_storage.disks.items() if key.endswith("disk0")]
        found.size = 1500
        told = self.ok(GROW)
        self.assertIn(
            "disk/0 of instance web1 had 1.5G, and not 1.0G as recorded: it is wiped from there on only", told
        )
        wiped = [call.argv for call in self.cluster.node(2).scripts.calls if call.argv[0] == "dd"]
        self.assertEqual([argv[4:6] for argv in wiped], [("seek=1500", "count=36")])
        self.assertEqual(self.sizes(), (1536, 1536))


class MirrorTests(MirroredCase):
    """Disks that two nodes have."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(f"{ADD} web1")

    def sizes(self) -> list[int]:
        """Recorded, of its data; then the mirror and its volume on both nodes."""
        (disk,) = self.cluster.config.disks.values()
        found = [
            size
            for number in (2, 3)
            for size in (
                *(each.notes.size for each in self.home(number).volumes.disks.values() if each.notes is not None),
                *(each.size for key, each in self.home(number).volumes.disks.items() if key.endswith("_data")),
            )
        ]
        return [disk.size, disk.children[0].size, *found]

    def test_grown(self) -> None:
        """Volumes on both nodes, then the mirror; metadata stay as they are."""
        self.ok("gnt-instance shutdown web1")
        self.ok(GROW)
        self.assertEqual(self.sizes(), [1536] * 6)
        self.assertEqual(self.ready(), [0, 0, 0])
        (disk,) = self.cluster.config.disks.values()
        self.assertEqual(disk.children[1].size, 128)

    def test_running(self) -> None:
        """One that runs keeps its mirror ready."""
        self.ok(GROW)
        self.assertEqual(self.ready(), [0, THREE, THREE])
        self.ok("gnt-instance shutdown web1")
        self.assertEqual(self.sizes(), [1536] * 6)

    def test_second_node_fails(self) -> None:
        """Volumes of different sizes do no harm; the same request makes them alike."""
        self.ok("gnt-instance shutdown web1")
        self.cluster.network.fault = refuses(BlockdevGrow, "node3.example.com", 1)
        self.fails(GROW, "could not grow disk/0 .*what has grown does no harm")
        self.cluster.network.fault = None
        self.assertEqual(self.sizes(), [1024, 1024, 1024, 1536, 1024, 1024])
        self.assertEqual(self.ready(), [0, 0, 0])
        self.ok(GROW)
        self.assertEqual(self.sizes(), [1536] * 6)

    def test_secondary_offline(self) -> None:
        """A mirror grows only as a whole."""
        self.ok("gnt-node modify --offline=yes --force node3")
        self.fails(GROW, "offline node: node3.example.com")


class EachCallTests(EachCallCase):
    """Each call in trouble, and the job ended at each."""

    FILE = Operation(GROW, [f"{FILE} --no-start web1"])
    MIRROR = Operation(GROW, [f"{ADD} web1", "gnt-instance shutdown web1"], mirrored=True)

    def test_file_troubles(self) -> None:
        """A file."""
        self.check_troubles(self.FILE)

    def test_file_killed(self) -> None:
        """Its job killed."""
        self.check_ended(self.FILE, self.kill)

    def test_file_cancelled(self) -> None:
        """Its job cancelled."""
        self.check_ended(self.FILE, self.cancel)

    def test_mirror_troubles(self) -> None:
        """A mirror."""
        self.check_troubles(self.MIRROR)

    def test_mirror_killed(self) -> None:
        """Its job killed."""
        self.check_ended(self.MIRROR, self.kill)
