"""Mirrored disks replaced in all four ways, in a whole cluster of four nodes."""

import re
from random import Random

from twisted.internet.defer import Deferred

from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import view_of
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevRemove, BlockdevRename
from ganeti_tx.rpc.calls.mirror import BlockdevAddchildren, BlockdevGetmirrorstatus
from ganeti_tx.test.inprocess.mirrored_case import ADD, THREE, MirroredCase
from ganeti_tx.test.inprocess.network import Fault, Says, Trouble

REPLACE = "gnt-instance replace-disks"


class ReplaceCase(MirroredCase):
    """web1 runs, and its mirror is whole."""

    nodes_count = 4

    def setUp(self) -> None:
        super().setUp()
        self.ok(f"{ADD} web1")
        self.home(2).mirrors.write(self.spec(), "letters")

    def spec(self, number: int = 2) -> DiskSpec:
        """The disk as a node must know it."""
        config = self.cluster.config
        (instance,) = config.instances.values()
        view = view_of(
            instance,
            cluster=config.cluster,
            disks=config.disks,
            nodes=config.nodes,
            groups=config.nodegroups,
            networks=config.networks,
        )
        (node,) = [node for node in config.nodes.values() if node.name == self.cluster.node(number).name]
        return view.disk_specs(node)[0]

    def lose_volumes(self, number: int) -> None:
        """The storage of a node is empty, as after an exchange of its hardware; it was off meanwhile."""
        node = self.cluster.node(number)
        self.cluster.lose_power(node, Random(1))
        self.home(number).volumes.disks.clear()
        self.cluster.pass_time(5)
        node.boot()
        self.cluster.pass_time(60)

    def assert_whole(self, *numbers: int) -> None:
        """The mirror is in sync on these nodes, which have its data; no other node has anything."""
        self.assert_agree()
        self.assertEqual([line.count("in sync, status ok") for line in self.states()], [1, 1])
        for number in numbers:
            ends = self.spec(number).ends
            end = self.home(number).mirrors.up[ends.local_minor if ends is not None else -1]
            assert end.data is not None
            self.assertEqual(end.data.content, "letters")


class SameNodeTests(ReplaceCase):
    """New volumes on one of the two nodes."""

    def test_on_each(self) -> None:
        """They take the names of the old ones; the configuration stays as it was but for what counts changes."""
        before = self.cluster.config.disks
        for option in ("-s", "-p", "--on-secondary", "--on-primary --disks=0", "-s --early-release"):
            told = self.ok(f"{REPLACE} {option} web1")
            self.assertIn("disks are in sync", told)
            self.assert_whole(2, 3)
        self.assertEqual(self.cluster.config.disks, before)
        self.assertEqual(self.ready(), [0, THREE, THREE, 0])

    def test_early_release(self) -> None:
        """The old copy is gone, and no node is held, while the new one is filled; without it both stay."""
        for option, held, volumes in (("--early-release", 0, 2), ("", 2, 4)):
            job_id = self.scene().submit(f"{REPLACE} --submit -s {option} web1")
            self.cluster.pass_time(5)
            self.assertEqual(self.statuses(job_id), ["running"])
            nodes = [each for each in self.cluster.locks() if str(each.lock).startswith("node/") and each.owners]
            self.assertEqual((len(nodes), len(self.volumes()[2])), (held, volumes), str(nodes))
            self.cluster.pass_time(60)
            self.assertEqual(self.statuses(job_id), ["success"])
            self.assert_whole(2, 3)

    def test_stopped(self) -> None:
        """Disks of what is down are ready only meanwhile."""
        self.ok("gnt-instance shutdown web1")
        for option in ("-s", "-p"):
            self.ok(f"{REPLACE} {option} web1")
            self.assertEqual(self.ready(), [0, 0, 0, 0])
            self.assert_agree()
        self.ok("gnt-instance startup web1")
        self.assert_whole(2, 3)

    def test_lost(self) -> None:
        """Volumes that are lost on the second node are made anew."""
        self.lose_volumes(3)
        self.ok(f"{REPLACE} -s web1")
        self.assert_whole(2, 3)

    def test_auto(self) -> None:
        """What is lost is found out; nothing is done when nothing is."""
        self.assertIn("No disks need replacement for instance 'web1'", self.ok(f"{REPLACE} -a web1"))
        self.lose_volumes(3)
        self.ok(f"{REPLACE} -a web1")
        self.assert_whole(2, 3)
        self.home(2).volumes.disks.clear()
        self.home(3).volumes.disks.clear()
        self.fails(
            f"{REPLACE} -a web1", "wrong_state.*\n.*faulty disks on both its nodes .disk/0 on node2.*disk/0 on node3"
        )

    def test_refused(self) -> None:
        """What makes no sense; nothing is changed."""
        before = self.cluster.config
        self.ok("gnt-instance add -t diskless -o noop -H fake -n node1 --no-name-check --no-ip-check db1")
        before = self.cluster.config
        for words, reason in (
            ("web1", "wrong_input.*\nOne and only one of the -p, -s, -a, -n and -I options must be passed"),
            ("-p -n node4 web1", "One and only one"),
            ("-p --disks=9 web1", r"Invalid disk index: 9 \(instance has disks 0 to 0\)"),
            ("-p --disks=0,0,1,0 web1", r"disks are named twice: 0\s*$"),
            ("-p --disks=x web1", "Invalid disk index"),
            ("-a --disks=0 web1", "takes all disks"),
            ("-n node4 --disks=0 web1", "takes all disks"),
            ("-n node2 web1", "is the primary node of the instance"),
            ("-n node3 web1", "is already the secondary node of the instance"),
            ("-n nosuch web1", "unknown_entity"),
            ("-p nosuch", "unknown_entity"),
            ("-I nosuch web1", "nosuch"),
            ("-p db1", "internal_error.*\nThe instance has a strange layout, expected one secondary but found 0"),
        ):
            self.fails(f"{REPLACE} {words}", reason)
        self.assertEqual(self.cluster.config, before)

    def test_other_side_is_bad(self) -> None:
        """Nothing is replaced that is the last good copy."""
        self.lose_volumes(3)
        self.fails(f"{REPLACE} -p web1", "wrong_state.*\nNode node3.example.com has degraded storage, disk/0")
        self.ok("gnt-instance shutdown web1")
        self.fails(f"{REPLACE} -p web1", "node3.example.com")
        self.assertEqual(self.ready(), [0, 0, 0, 0])

    def test_no_room(self) -> None:
        """A node that is full, or offline."""
        self.home(3).volumes.total = 100
        self.fails(f"{REPLACE} -s web1", "not enough room in xenvg of node node3.example.com: needed 1152 MiB")
        self.assert_whole(2, 3)
        self.ok("gnt-node modify --offline=yes --force node3")
        self.fails(f"{REPLACE} -s web1", "offline node: node3.example.com")

    def test_cut_off(self) -> None:
        """A node that is cut off in the middle leaves what the same command puts right."""
        seen = []

        def cut(node: str, call: NodeCall[object]) -> Trouble | None:
            if isinstance(call, BlockdevAddchildren):
                seen.append(node)
            return Trouble.REFUSED if seen and node == "node3.example.com" else None

        self.cluster.network.fault = cut
        self.fails(f"{REPLACE} -s web1", "could not replace the volumes of disk/0")
        self.assertEqual(len(self.volumes()[2]), 4)
        self.cluster.network.fault = None
        self.ok(f"{REPLACE} -s web1")
        self.assert_whole(2, 3)

    def test_never_in_sync(self) -> None:
        """When the new copy cannot be filled the old volumes stay, and are told of."""

        def cut(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, BlockdevGetmirrorstatus):
                self.wire.split(*(self.cluster.node(number).address for number in (2, 3)))

        self.cluster.network.fault = cut
        status, out, err = self.scene().run(f"{REPLACE} -s web1".split())
        self.assertEqual(status, 1)
        self.assertIn("there are some degraded disks for instance web1: disk/0 is Connecting, ", err)
        self.assertIn("mended by 'gnt-instance activate-disks --wait-for-sync web1' as soon as its nodes reach", err)
        self.assertRegex(out, "WARNING: .*_data_replaced")
        self.assertRegex(
            out, "names the old volumes as unknown, 'gnt-cluster command -n node3.*lvremove -f .*_replaced"
        )
        self.cluster.network.fault = None
        self.wire.mend(*(self.cluster.node(number).address for number in (2, 3)))
        self.ok(f"{REPLACE} -s web1")
        self.assert_whole(2, 3)

    def breaks_when(self, kind: type[NodeCall[object]], trouble: Says | None = None) -> Fault:
        """The volumes of the secondary node break when there is a first call of a kind, which may have trouble, too."""
        calls = iter(range(1000))

        def fault(node: str, call: NodeCall[object]) -> Says | None:
            if not isinstance(call, kind) or next(calls) > 0:
                return None
            self.home(3).mirrors.lose_part(self.spec(3))
            return trouble

        return fault

    def by_hand(self, out: str) -> list[str]:
        """The commands that the warning names."""
        found = re.search(
            "if node node3.example.com has lost its copy, the old one on node node2.*; '(.*)' goes on", out
        )
        assert found is not None, out
        return found[1].split(" && ")

    def shell(self, line: str) -> None:
        """Do on node2 what `gnt-cluster command` would have its shell do."""
        volumes = self.home(2).volumes.disks
        words = re.fullmatch('gnt-cluster command -n node2.example.com "(.*)"', line)
        assert words is not None, line
        for verb, *names in (each.split() for each in words[1].split("; ")):
            if verb == "lvremove":
                for name in names[1:]:
                    del volumes[name]
            else:
                volumes[names[1]] = volumes.pop(names[0])

    def test_other_side_breaks(self) -> None:
        """While the primary node's volumes are away: the way back to them is named, and leads there."""
        self.cluster.network.fault = self.breaks_when(BlockdevRename, Says("no"))
        status, out, _ = self.scene().run(f"{REPLACE} -p web1".split())
        self.cluster.network.fault = None
        self.assertEqual(status, 1)
        self.assertIn("could not undo a step (attach the volumes of disk/0 of instance web1 again on node node2", out)
        for line in self.by_hand(out):
            self.ok(line)
        self.assertEqual(self.home(2).mirrors.read(self.spec()), "letters")
        self.ok(f"{REPLACE} -s web1")
        self.assert_whole(2, 3)

    def test_other_side_breaks_while_it_fills(self) -> None:
        """The same while the new volumes are filled: the old ones have been put aside."""
        self.cluster.network.fault = self.breaks_when(BlockdevGetmirrorstatus)
        status, out, err = self.scene().run(f"{REPLACE} -p web1".split())
        self.cluster.network.fault = None
        self.assertEqual(status, 1)
        self.assertRegex(err, r"disk/0 has lost its part on node node3\.example\.com\s*$")
        self.fails(f"{REPLACE} -p web1", "degraded storage")
        self.fails(f"{REPLACE} -s web1", "degraded storage")
        stop, by_hand, start = self.by_hand(out)
        self.ok(stop)
        self.shell(by_hand)
        self.ok(start)
        self.assertEqual(self.home(2).mirrors.read(self.spec()), "letters")
        self.ok(f"{REPLACE} -s web1")
        self.assert_whole(2, 3)

    def test_new_volume_breaks(self) -> None:
        """The error names the command that makes the mirror whole again, as does that of who only makes the disks ready."""
        for option, number in (("-s", 3), ("-p", 2)):

            def broken(node: str, call: NodeCall[object], number: int = number) -> None:
                if isinstance(call, BlockdevGetmirrorstatus):
                    mirrors = self.home(number).mirrors
                    self.successResultOf(Deferred.fromCoroutine(mirrors.detach_children(self.spec(number))))

            self.cluster.network.fault = broken
            mended = f"disk/0 has lost its part on node node{number}.example.com, which gets new volumes by '{REPLACE} {option} "
            for command in (f"{REPLACE} {option}", "gnt-instance activate-disks --wait-for-sync"):
                _, _, err = self.scene().run(f"{command} web1".split())
                self.assertIn(f"degraded disks for instance web1: {mended}web1'", err)
            self.cluster.network.fault = None
            self.ok(f"{REPLACE} {option} web1")
            self.assert_whole(2, 3)

    def test_other_side_breaks_of_a_stopped_one(self) -> None:
        """It is not started by what is named then."""
        self.ok("gnt-instance shutdown web1")
        self.cluster.network.fault = self.breaks_when(BlockdevGetmirrorstatus)
        status, out, _ = self.scene().run(f"{REPLACE} -p web1".split())
        self.cluster.network.fault = None
        self.assertEqual(status, 1)
        down, by_hand = self.by_hand(out)
        self.ok(down)
        self.shell(by_hand)
        self.assertEqual(self.cluster.running(), {})
        self.ok("gnt-instance startup --force web1")
        self.assertEqual(self.home(2).mirrors.read(self.spec()), "letters")
        self.ok(f"{REPLACE} -s web1")
        self.assert_whole(2, 3)

    def test_old_volume_stays(self) -> None:
        """An old volume that cannot be removed is told of."""
        self.cluster.network.fault = lambda node, call: Says("no") if isinstance(call, BlockdevRemove) else None
        self.assertIn(
            "Can't remove the old copy of disk/0 of instance web1 on node node3", self.ok(f"{REPLACE} -s web1")
        )
        self.cluster.network.fault = None
        self.ok(f"{REPLACE} -s web1")
        self.assert_whole(2, 3)
