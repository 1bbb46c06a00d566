"""Mirrored instances that go to a node without a copy, in a whole cluster of four nodes (design-2.0, Failover to any node)."""

from random import Random

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevCreate, BlockdevRemove
from ganeti_tx.rpc.calls.instance import InstanceStart
from ganeti_tx.rpc.calls.mirror import BlockdevGetmirrorstatus
from ganeti_tx.test.inprocess.mirrored_case import THREE
from ganeti_tx.test.inprocess.network import Fault, Says
from ganeti_tx.test.inprocess.test_rapi import RapiCase
from ganeti_tx.test.inprocess.test_replace_disks import ReplaceCase

FAILOVER = "gnt-instance failover -f"
MIGRATE = "gnt-instance migrate -f"
#: The node that keeps its copy, and the one that loses it: the former primary node is the second one.
EITHER = ((2, 3), (3, 2))


class AnyNodeCase(ReplaceCase):
    """web1 runs on node2, with a whole mirror on node3."""

    def assert_runs(self, number: int, kept: int) -> None:
        """It runs there alone, with its data there and on the node that kept its copy, and nowhere else."""
        self.assertEqual(self.cluster.running(), {self.cluster.node(number).name: ["web1"]})
        self.assert_placed(number, kept)
        self.assert_whole(number, kept)
        self.assertEqual(self.home(number).mirrors.read(self.spec(number)), "letters")
        self.assertEqual(self.ready(), [THREE if each in (number, kept) else 0 for each in self.numbers])

    def assert_placed(self, number: int, kept: int) -> None:
        """The configuration says so."""
        told = self.ok("gnt-instance list --no-headers -o pnode,snodes web1").split()
        self.assertEqual(told, [self.cluster.node(each).name for each in (number, kept)])

    def first(self, kind: type[NodeCall[object]], on: str = "") -> Fault:
        """The first call of a kind, to one of some nodes, is refused."""
        seen = iter(range(1000))

        def fault(node: str, call: NodeCall[object]) -> Says | None:
            return Says("no") if isinstance(call, kind) and node.startswith(on) and next(seen) == 0 else None

        return fault


class FailoverTests(AnyNodeCase):
    """Failing over."""

    def by_hand(self, node: str) -> str:
        """What is told that removes the old copy there, with its names."""
        left = " ".join(each for each in self.volumes()[int(node[-1]) - 1])
        return rf"'gnt-cluster command -n {node}\S* \".*drbdsetup down \S+; lvremove -f {left}\"' removes them"

    def test_either_stays(self) -> None:
        """The old primary node or the old secondary one keeps its copy; the other one's is gone, which knew the port."""
        (before,) = self.cluster.config.disks.values()
        said = self.ok(f"{FAILOVER} -n node4 --secondary-node node3 web1")
        self.assertIn("* connecting the disks on node node4.example.com to those on node node3.example.com", said)
        self.assert_runs(4, 3)
        (after,) = self.cluster.config.disks.values()
        self.assertEqual(after.secrets, before.secrets)
        self.assertNotEqual(after.ports, before.ports)
        self.ok(f"{FAILOVER} -n node1 --secondary-node node4 web1")
        self.assert_runs(1, 4)
        self.assertEqual(self.mirrors(), [1, 0, 0, 1])

    def test_runs_while_it_is_filled(self) -> None:
        """It is started as soon as its new node is filled; the old data is there until that has ended."""
        self.wire.rate = 10.0
        for kept, left in EITHER:
            job_id = self.scene().submit(
                f"{FAILOVER.replace(' -f', ' --submit -f')} -n node4 --secondary-node node{kept} web1"
            )
            self.cluster.pass_time(20)
            self.assertEqual(self.statuses(job_id), ["running"])
            self.assertEqual(self.cluster.running(), {"node4.example.com": ["web1"]})
            self.assertEqual([each.is_good for each in self.home(4).mirrors.up.values()], [False])
            self.assertEqual([len(self.volumes()[each - 1]) for each in (kept, left, 4)], [2, 2, 2])
            self.home(4).mirrors.write(self.spec(4), "letters")
            self.cluster.pass_time(200)
            self.assertEqual(self.statuses(job_id), ["success"])
            self.assert_runs(4, kept)
            self.ok(f"{FAILOVER} -n node2 --secondary-node node{kept} web1" if kept != 2 else f"{FAILOVER} web1")
            self.ok("gnt-instance replace-disks -n node3 web1" if kept == 2 else "gnt-instance info web1")
            self.assert_runs(2, 3)

    def test_waits(self) -> None:
        """It stands still until its new node has everything, if that is asked for."""
        self.wire.rate = 10.0
        job_id = self.scene().submit(f"{FAILOVER} --submit -n node4 --secondary-node node3 --wait-for-sync web1")
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(job_id), ["running"])
        self.assertEqual(self.cluster.running(), {})
        self.assert_placed(2, 3)
        self.cluster.pass_time(200)
        self.assertEqual(self.statuses(job_id), ["success"])
        self.assert_runs(4, 3)

    def test_stopped(self) -> None:
        """What is down stays down, and its disks too."""
        self.ok("gnt-instance shutdown web1")
        for kept, target in ((3, 4), (4, 2)):
            self.ok(f"{FAILOVER} -n node{target} --secondary-node node{kept} web1")
            self.assertEqual((self.cluster.running(), self.ready()), ({}, [0, 0, 0, 0]))
            self.assert_placed(target, kept)
            self.assert_agree()
        self.ok("gnt-instance startup web1")
        self.assert_runs(2, 4)

    def test_stopped_with_active_disks(self) -> None:
        """Disks that were made ready by hand are so on the new pair."""
        self.ok("gnt-instance shutdown web1")
        self.ok("gnt-instance activate-disks web1")
        self.ok(f"{FAILOVER} -n node4 --secondary-node node2 web1")
        self.assertEqual(self.ready(), [0, THREE, 0, THREE])
        self.assert_whole(2, 4)
        self.assertTrue(any(each.primary for each in self.home(4).mirrors.up.values()))

    def test_primary_is_dead(self) -> None:
        """With the primary node gone the secondary one keeps its copy, and cannot do otherwise."""
        self.cluster.lose_power(self.cluster.node(2), Random(1))
        self.ok("gnt-node modify --offline=yes --force node2")
        self.fails(
            f"{FAILOVER} -n node4 --secondary-node node2 web1",
            "node2.example.com; cannot keep a copy of instance web1 there",
        )
        said = self.ok(f"{FAILOVER} -n node4 --secondary-node node3 web1")
        self.assertIn("make sure that it is down", said)
        self.assertIn("Can't remove the old copy of disk/0 of instance web1 on node node2", said)
        self.assertEqual(self.cluster.running(), {"node4.example.com": ["web1"]})
        self.assert_placed(4, 3)
        self.assertEqual(self.home(4).mirrors.read(self.spec(4)), "letters")

    def test_primary_does_not_answer(self) -> None:
        """One that is not marked as offline is taken for alive, unless that is not to be minded."""
        self.cluster.lose_power(self.cluster.node(2), Random(1))
        line = f"{FAILOVER} -n node4 --secondary-node node3"
        self.fails(f"{line} web1", r"degraded on node node3.example.com \(Connecting, .*\); --ignore-consistency")
        said = self.ok(f"{line} --ignore-consistency web1")
        self.assertIn("make sure that node node2.example.com is down", said)
        self.assert_placed(4, 3)

    def test_secondary_is_dead(self) -> None:
        """With the secondary node gone the primary one keeps its copy."""
        self.cluster.lose_power(self.cluster.node(3), Random(1))
        self.fails(f"{FAILOVER} -n node4 --secondary-node node3 web1", "node3")
        said = self.ok(f"{FAILOVER} -n node4 --secondary-node node2 web1")
        self.assertIn("Can't remove the old copy of disk/0 of instance web1 on node node3", said)
        self.cluster.node(3).boot()
        self.cluster.pass_time(60)
        self.ok("gnt-instance replace-disks -n node3 web1")
        self.assert_whole(4, 3)
        self.assert_placed(4, 3)

    def test_kept_copy_is_bad(self) -> None:
        """A copy that is not good is not the one that stays, whatever is asked for."""
        self.lose_volumes(3)
        self.home(2).mirrors.write(self.spec(), "newer")
        for option in ("", "--ignore-consistency "):
            self.fails(
                f"{FAILOVER} -n node4 --secondary-node node3 {option}web1",
                "disk/0 of instance web1 is not consistent on node node3.example.com",
            )
        self.assertEqual(self.cluster.running(), {"node2.example.com": ["web1"]})

    def test_kept_copy_is_older(self) -> None:
        """Of disks that are down it is found out which side is newer; the older one does not stay."""
        self.wire.rate = 1.0
        self.wire.split(*(self.cluster.node(number).address for number in (2, 3)))
        self.home(2).mirrors.write(self.spec(), "newer")
        self.ok("gnt-instance shutdown web1")
        self.wire.mend(*(self.cluster.node(number).address for number in (2, 3)))
        self.fails(f"{FAILOVER} -n node4 --secondary-node node3 web1", "disk/0 .* is not consistent on node node3")
        self.assertEqual(self.ready(), [0, 0, 0, 0])
        self.assert_agree()
        self.wire.rate = 100.0
        self.ok(f"{FAILOVER} -n node4 --secondary-node node2 web1")
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.home(4).mirrors.read(self.spec(4)), "newer")

    def test_split_brain(self) -> None:
        """It is named where it keeps the instance from going, and where one side's changes are lost by that."""
        second, third = (self.cluster.node(number).address for number in (2, 3))
        self.wire.split(second, third)
        self.cluster.run(self.home(3).mirrors.become_primary(self.spec(3)))
        self.home(2).mirrors.write(self.spec(2), "letters")
        self.home(3).mirrors.write(self.spec(3), "numbers")
        self.cluster.run(self.home(3).mirrors.become_secondary(self.spec(3)))
        self.wire.mend(second, third)
        split = "split brain: each side has changes that the other has not"
        self.fails(f"{FAILOVER} -n node4 --secondary-node node3 web1", f"is degraded on node node3.*{split}.*discards")
        told = self.ok(f"{FAILOVER} -n node4 --secondary-node node2 web1")
        self.assertIn(f"WARNING: disk/0 of instance web1: {split}; those of node node3.example.com are lost", told)
        self.assert_runs(4, 2)

    def test_taken_back(self) -> None:
        """Until the new pair is recorded a failure has the instance run where it was, upon the old pair."""
        for kept, _ in EITHER:
            for fault in (
                self.first(BlockdevCreate),
                self.first(BlockdevAssemble, f"node{kept}"),
                self.first(BlockdevAssemble, "node4"),
            ):
                self.cluster.network.fault = fault
                self.fails(
                    f"{FAILOVER} -n node4 --secondary-node node{kept} web1", "could not move the copies of disk/0"
                )
                self.cluster.network.fault = None
                self.cluster.pass_time(30)
                self.assert_runs(2, 3)

    def test_never_filled(self) -> None:
        """When the new node is cut off before it has everything, the old data stays and is told of."""
        self.wire.rate = 1.0

        def cut(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, BlockdevGetmirrorstatus):
                self.wire.split(*(self.cluster.node(number).address for number in (4, 3)))

        self.cluster.network.fault = cut
        status, out, err = self.scene().run(f"{FAILOVER} -n node4 --secondary-node node3 web1".split())
        self.assertEqual(status, 1)
        self.assertIn("there are some degraded disks for instance web1", err)
        self.assertIn("the old ones of disk/0 of instance web1 stay on node node2.example.com", out)
        self.assertRegex(out, self.by_hand("node2"))
        self.assertEqual(len(self.volumes()[1]), 2)
        self.cluster.network.fault = None
        self.wire.mend(*(self.cluster.node(number).address for number in (4, 3)))
        self.wire.rate = 100.0
        self.cluster.pass_time(60)
        self.assert_placed(4, 3)
        self.assertIn(f"volume {self.volumes()[1][0]} is unknown", self.scene().run(["gnt-cluster", "verify"])[1])

    def test_never_filled_while_it_waits(self) -> None:
        """Where it waits first, all is taken back."""

        def cut(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, BlockdevGetmirrorstatus):
                self.wire.split(*(self.cluster.node(number).address for number in (4, 3)))

        self.wire.rate = 1.0
        self.cluster.network.fault = cut
        self.fails(f"{FAILOVER} -n node4 --secondary-node node3 --wait-for-sync web1", "there are some degraded disks")
        self.cluster.network.fault = None
        self.wire.rate = 100.0
        self.cluster.pass_time(60)
        self.assert_runs(2, 3)

    def test_cannot_start(self) -> None:
        """What its new node cannot start stays there, where it can be started; the rest is done."""
        self.cluster.network.fault = self.first(InstanceStart, "node4")
        self.fails(
            f"{FAILOVER} -n node4 --secondary-node node2 web1",
            "could not start instance web1 on node node4.example.com.*'gnt-instance startup web1' tries it again",
        )
        self.cluster.network.fault = None
        self.ok("gnt-instance startup web1")
        self.assert_runs(4, 2)

    def test_old_copy_stays(self) -> None:
        """An old copy that cannot be removed is told of."""
        self.cluster.network.fault = lambda node, call: Says("no") if isinstance(call, BlockdevRemove) else None
        said = self.ok(f"{FAILOVER} -n node4 --secondary-node node3 web1")
        self.assertIn("Can't remove the old copy of disk/0 of instance web1 on node node2.example.com: ", said)
        self.assertRegex(said, self.by_hand("node2"))

    def test_same_pair(self) -> None:
        """To its secondary node it goes as ever."""
        self.ok(f"{FAILOVER} -n node3 --secondary-node node2 web1")
        self.assert_runs(3, 2)

    def test_refused(self) -> None:
        """What makes no sense; nothing is changed."""
        self.ok("gnt-instance add -t diskless -o noop -H fake -n node1 --no-name-check --no-ip-check db1")
        self.ok("gnt-group add rack2")
        before = self.cluster.config
        for words, reason in (
            ("-n node4 web1", "for another one --secondary-node says which of node2.example.com and node3.example.com"),
            (
                "--secondary-node node3 web1",
                "wrong_input.*\nsecondary node node3.example.com given, but no target node",
            ),
            ("-n node3 --secondary-node node3 web1", "cannot be the primary and the secondary node"),
            ("-n node4 --secondary-node node1 web1", "node1.example.com has no copy of the disks of instance web1"),
            ("-n node4 --secondary-node nosuch web1", "unknown_entity"),
            ("-n nosuch --secondary-node node2 web1", "unknown_entity"),
            ("-n node2 --secondary-node node3 web1", "wrong_state.*\nCannot migrate instance web1 to its primary"),
            ("--cleanup --secondary-node node3 web1", "not with a clean-up"),
            ("-n node4 --secondary-node node3 -I hail web1", "Specify either an iallocator"),
            ("-I hail --secondary-node node3 web1", r"not with an iallocator \(-I\)"),
            ("-n node4 --secondary-node node1 db1", "Instances with disk template diskless have no secondary node"),
        ):
            self.fails(f"{FAILOVER} {words}", reason)
        self.assertEqual(self.cluster.config, before)
        self.ok("gnt-instance remove -f db1")
        self.home(4).volumes.total = 100
        self.fails(f"{FAILOVER} -n node4 --secondary-node node3 web1", "not enough room in xenvg of node node4")
        self.ok("gnt-node modify --drained=yes node4")
        self.fails(f"{FAILOVER} -n node4 --secondary-node node3 web1", "node4.example.com is drained")
        self.ok("gnt-node modify --drained=no node4")
        self.ok("gnt-group assign-nodes --force rack2 node4")
        self.fails(f"{FAILOVER} -n node4 --secondary-node node3 web1", "are in different groups")
        self.assert_runs(2, 3)


class MigrationTests(AnyNodeCase):
    """Live migration."""

    def test_primary_stays(self) -> None:
        """It goes over when its new node has everything, and runs all the time."""
        self.wire.rate = 10.0
        job_id = self.scene().submit(f"{MIGRATE} --submit -n node4 --secondary-node node2 web1")
        self.cluster.pass_time(60)
        self.assertEqual(self.statuses(job_id), ["running"])
        self.assertEqual(self.cluster.running(), {"node2.example.com": ["web1"]})
        self.cluster.pass_time(200)
        self.assertEqual(self.statuses(job_id), ["success"])
        self.assert_runs(4, 2)

    def test_secondary_stays(self) -> None:
        """It cannot: nobody could send it."""
        self.fails(
            f"{MIGRATE} -n node4 --secondary-node node3 web1",
            "can be migrated to node node4.example.com only if its primary node node2.example.com keeps its copy",
        )
        self.assert_runs(2, 3)

    def test_failed_over(self) -> None:
        """What does not run is failed over, where that is allowed."""
        self.ok("gnt-instance shutdown web1")
        self.ok(f"{MIGRATE} -n node4 --secondary-node node3 --allow-failover web1")
        self.assert_placed(4, 3)
        self.ok("gnt-instance startup web1")
        self.assert_runs(4, 3)


class RemoteTests(RapiCase, AnyNodeCase):
    """By the Remote API."""

    def test_failover(self) -> None:
        """The opcode's parameters are the body's."""
        body = {"target_node": "node4.example.com", "secondary_node": "node3.example.com", "wait_for_sync": True}
        self.done("PUT", "/2/instances/web1/failover", body)
        self.assert_runs(4, 3)

    def test_migrate(self) -> None:
        """The same for migrations."""
        body = {"target_node": "node4.example.com", "secondary_node": "node2.example.com"}
        self.done("PUT", "/2/instances/web1/migrate", body)
        self.assert_runs(4, 2)
