"""Lost disks made anew in a whole cluster: on files and mirrors, where they were and elsewhere."""

import re
from random import Random

from ganeti_tx.rpc.calls.disk import BlockdevCreate
from ganeti_tx.test.fakes.devices import FakeDisk
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.each_call import EachCallCase, Operation
from ganeti_tx.test.inprocess.mirrored_case import ADD, MirroredCase
from ganeti_tx.test.inprocess.network import Says, Trouble

FILE = (
    "gnt-instance add -t file --disk 0:size=1G --disk 1:size=2G -o noop -H fake -n node2 --no-start --no-name-check"
    " --no-ip-check web1"
)
RECREATE = "gnt-instance recreate-disks"


class FileTests(ClusterCase):
    """Disks that one node has."""

    def setUp(self) -> None:
        super().setUp()
        self.ok(FILE)

    def lose(self, *indices: int, number: int = 2) -> None:
        """Files are gone."""
        disks = self.cluster.node(number).files_storage.disks
        for key in [key for key in disks if key.endswith(tuple(f"disk{index}" for index in indices))]:
            del disks[key]

    def sizes(self, number: int) -> list[int]:
        """Of the files on a node, by name."""
        return [disk.size for _, disk in sorted(self.disks_by_index(number).items())]

    def disks_by_index(self, number: int) -> dict[str, FakeDisk]:
        """The files on a node."""
        return {key[-1]: disk for key, disk in self.cluster.node(number).files_storage.disks.items()}

    def test_in_place(self) -> None:
        """All, or those that are lost; another size is recorded."""
        self.lose(0, 1)
        self.assertEqual(self.ok(f"{RECREATE} web1"), "")
        self.assertEqual(self.sizes(2), [1024, 2048])
        self.lose(1)
        before = self.cluster.config
        self.fails(f"{RECREATE} web1", "wrong_state.*\ndisk/0 of instance web1 is there on node node2.example.com")
        self.assertEqual(self.cluster.config, before)
        self.ok(f"{RECREATE} --disk 1:size=3G web1")
        self.assertEqual(self.sizes(2), [1024, 3072])
        self.assertEqual(sorted(disk.size for disk in self.cluster.config.disks.values()), [1024, 3072])
        self.ok("gnt-instance startup web1")

    def test_start_tells(self) -> None:
        """A start that fails as disks are lost says how to make them, all or those; what it says can be done."""
        self.ok("gnt-instance startup web1")
        for lost in ((0, 1), (1,)):
            node = self.cluster.node(2)
            node.disk.remove(node.paths.run_dir / "fake-hypervisor" / "web1")
            self.lose(*lost)
            told = self.fails("gnt-instance startup web1", "does not exist; if it is lost, ")
            for line in re.findall("'(gnt-[^']*)'", told):
                self.ok(line)
            self.ok("gnt-instance startup web1")
        self.assertIn("recreate-disks --disk 1 web1", told)
        self.ok("gnt-instance shutdown web1")
        self.lose(0)
        self.assertNotIn("shutdown", self.fails("gnt-instance startup web1", "recreate-disks --disk 0 web1"))

    def test_elsewhere(self) -> None:
        """The node is dead: the disks, and the instance, are on another one."""
        self.cluster.lose_power(self.cluster.node(2), Random(1))
        self.ok("gnt-node modify --offline=yes --force node2")
        self.fails(f"{RECREATE} web1", "offline node: node2.example.com.*--node")
        self.ok(f"{RECREATE} -n node3 web1")
        self.assertEqual(self.sizes(3), [1024, 2048])
        (instance,) = self.cluster.config.instances.values()
        self.assertEqual(self.cluster.config.nodes[instance.primary_node].name, "node3.example.com")
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.cluster.running(), {"node3.example.com": ["web1"]})

    def test_refused(self) -> None:
        """What makes no sense, or would lose something; nothing is changed."""
        self.ok("gnt-instance add -t diskless -o noop -H fake -n node1 --no-name-check --no-ip-check --no-start db1")
        self.lose(0, 1)
        before = self.cluster.config
        for words, reason in (
            ("db1", "wrong_input.*\nInstance 'db1' has no disks"),
            ("-n node1:node3 web1", "Instance web1 currently has 1 nodes, but 2 replacement nodes were specified"),
            ("--disk 0 -n node3 web1", "Can't recreate disks partially and change the nodes at the same time"),
            ("-n node3 -I hail web1", "Give either new nodes or an iallocator, not both"),
            ("--disk 9 web1", r"Invalid disk index: 9 \(instance has disks 0 to 1\)"),
            ("--disk 0 --disk 0 web1", "--disk 0 was given twice"),
            ("--disk 0:nosuch=1 web1", "Unknown parameter 'nosuch'; known disk parameters are"),
            (
                "--disk 0:vg=other web1",
                "vg of a disk that is made anew cannot be changed; allowed are mode, size, spindles",
            ),
            ("-n nosuch web1", "unknown_entity"),
            ("nosuch", "unknown_entity"),
        ):
            self.fails(f"{RECREATE} {words}", reason)
        self.cluster.node(2).files_storage.total = 1500
        self.fails(f"{RECREATE} web1", "insufficient_resources.*\n.*needed 3072 MiB, free 1500 MiB")
        self.assertEqual(self.cluster.config, before)
        self.assertEqual(self.sizes(2), [])

    def test_up(self) -> None:
        """Disks of what is to run, or runs, are not made anew."""
        self.ok("gnt-instance startup web1")
        self.fails(f"{RECREATE} web1", "Instance 'web1' is marked to be up, cannot recreate disks")

    def test_second_fails(self) -> None:
        """What was made is removed again."""
        self.lose(0, 1)
        seen = iter(range(9))
        self.cluster.network.fault = lambda node, call: (
            Says("no") if isinstance(call, BlockdevCreate) and next(seen) else None
        )
        self.fails(f"{RECREATE} -n node3 web1", "could not create disk/1 of instance web1: .*no")
        self.assertEqual((self.sizes(2), self.sizes(3)), ([], []))
        (instance,) = self.cluster.config.instances.values()
        self.assertEqual(self.cluster.config.nodes[instance.primary_node].name, "node2.example.com")


class MirrorTests(MirroredCase):
    """Disks that two nodes have."""

    nodes_count = 5

    def setUp(self) -> None:
        super().setUp()
        self.ok(f"{ADD} --no-start web1")

    def lose(self, *numbers: int) -> None:
        """The storages of nodes are empty."""
        for number in numbers:
            self.home(number).volumes.disks.clear()

    def test_in_place(self) -> None:
        """On both nodes; with one copy left nothing is made anew."""
        self.lose(2)
        self.fails(f"{RECREATE} web1", "disk/0 of instance web1 is there on node node3.example.com")
        self.lose(3)
        self.ok(f"{RECREATE} web1")
        self.assert_agree()
        self.ok("gnt-instance startup web1")

    def test_elsewhere(self) -> None:
        """On two other nodes, with other minors, the same port and the same secret."""
        self.lose(2, 3)
        (before,) = self.cluster.config.disks.values()
        self.ok(f"{RECREATE} -n node4:node5 --disk 0:size=2G web1")
        (after,) = self.cluster.config.disks.values()
        self.assertEqual((after.ports, after.secrets, after.size), (before.ports, before.secrets, 2048))
        self.assert_agree()
        self.assertEqual(
            self.ok("gnt-instance list --no-headers -o pnode,snodes web1").split(),
            ["node4.example.com", "node5.example.com"],
        )
        self.ok("gnt-instance startup web1")


class WipeTests(MirroredCase):
    """A cluster that wipes."""

    def setUp(self) -> None:
        super().setUp()
        self.ok("gnt-cluster modify --prealloc-wipe-disks=yes")

    def wiped(self, number: int) -> int:
        """MiB that were filled with zeros on a node since the last time."""
        calls = [call.argv for call in self.cluster.node(number).scripts.calls if call.argv[0] == "dd"]
        self.cluster.node(number).scripts.calls.clear()
        return sum(int(argv[5].removeprefix("count=")) for argv in calls)

    def test_file(self) -> None:
        """When it is made, made anew, and removed."""
        self.ok(FILE)
        self.assertEqual(self.wiped(2), 3072)
        self.cluster.node(2).files_storage.disks.clear()
        self.ok(f"{RECREATE} web1")
        self.assertEqual(self.wiped(2), 3072)
        self.ok("gnt-instance remove -f web1")
        self.assertEqual(self.wiped(2), 3072)
        self.assert_nothing_left(self.cluster)

    def test_lost(self) -> None:
        """What is not there cannot be wiped, and keeps nobody from removing the instance."""
        self.ok(FILE)
        self.cluster.node(2).files_storage.disks.clear()
        self.ok("gnt-instance remove -f web1")
        self.assert_nothing_left(self.cluster)

    def test_mirror(self) -> None:
        """On the primary node alone; the mirror is filled from there afterwards."""
        self.ok(f"{ADD} web1")
        self.assertEqual((self.wiped(2), self.wiped(3)), (1024, 0))
        self.assertEqual([line.count("in sync, status ok") for line in self.states()], [1, 1])
        self.ok("gnt-instance remove -f web1")
        self.assertEqual(self.volumes(), [[], [], []])

    def test_fails(self) -> None:
        """A new disk that cannot be wiped is removed again."""
        self.cluster.network.fault = lambda node, call: Says("no") if call.name == "blockdev_wipe" else None
        for line in (FILE, f"{ADD} web1"):
            self.fails(line, "could not wipe disk/0 of instance web1: .*no")
            self.assert_nothing_left(self.cluster)
            self.assertEqual(self.volumes(), [[], [], []])


class EachCallTests(EachCallCase):
    """Each call in trouble, and the job ended at each; then the same command makes the disks."""

    WAYS = (
        Operation(RECREATE + " web1", [FILE], partly=True, done=lambda cluster: bool(cluster.disks())),
        Operation(f"{RECREATE} -n node3 web1", [FILE], partly=True, done=lambda cluster: bool(cluster.disks())),
    )

    def prepared(self, operation: Operation) -> InProcessCluster:
        """The disks are lost."""
        cluster = super().prepared(operation)
        cluster.node(2).files_storage.disks.clear()
        return cluster

    def test_troubles(self) -> None:
        """A call goes wrong."""
        for way in self.WAYS:
            self.check_troubles(way, [Says("no"), Trouble.ANSWER_LOST])

    def test_killed(self) -> None:
        """The job is killed."""
        for way in self.WAYS:
            self.check_ended(way, self.kill)

    def check_outcome(self, operation: Operation, success: bool, where: str) -> None:
        """What failed has left none of the disks."""
        if not success and not operation.done(self.cluster):
            self.assertEqual(self.cluster.disks(), {}, where)
        super().check_outcome(operation, success, where)


class EachCallWipeTests(EachCallCase):
    """Instances made and removed where disks are wiped."""

    YES = "gnt-cluster modify --prealloc-wipe-disks=yes"
    MAKE = Operation(FILE, [YES], done=lambda cluster: bool(cluster.config.instances))
    MIRROR = Operation(f"{ADD.replace('1G', '64M')} --no-start web1", [YES], mirrored=True,
                       done=lambda cluster: bool(cluster.config.instances))  # fmt: skip
    REMOVE = Operation(
        "gnt-instance remove -f web1", [YES, FILE], partly=True, done=lambda cluster: not cluster.config.instances
    )

    def test_made_and_killed(self) -> None:
        """Nothing is left."""
        self.check_ended(self.MAKE, self.kill)

    def test_mirror_made_and_killed(self) -> None:
        """Nor of a mirror, which is held up while it is wiped."""
        self.check_ended(self.MIRROR, self.kill)

    def test_removed(self) -> None:
        """It can be removed again."""
        self.check_troubles(self.REMOVE, [Says("no")])
        self.check_ended(self.REMOVE, self.kill)
