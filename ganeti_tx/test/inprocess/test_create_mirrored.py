"""Making an instance with mirrored disks in a whole cluster, whose nodes have a driver for them."""

from random import Random

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevAssemble, BlockdevCreate
from ganeti_tx.rpc.calls.mirror import BlockdevGetmirrorstatus
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster

ADD = "gnt-instance add -t drbd -s 1G -o noop -H fake --no-name-check --no-ip-check --ignore-ipolicy"
VOLUMES = 2


class CreateMirroredTests(ClusterCase):
    """`gnt-instance add -t drbd`."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, self.wire = mirrored_cluster(seed=seed)
        self.addCleanup(cluster.end)
        return cluster

    def volumes(self) -> list[int]:
        """How many there are on each node."""
        homes = [self.cluster.node(number).mirror_node for number in (1, 2, 3)]
        return [len(home.volumes.disks) for home in homes if home is not None]

    def test_made(self) -> None:
        """Two volumes below a mirror on each of two nodes; it runs, its mirror is filled, and it leaves nothing."""
        told = self.ok(f"{ADD} -n node2:node3 web1")
        self.assertRegex(
            told, r"(?s)Waiting for instance web1\S* to sync disks.*disk/0:  0.00% done, 1m 42s remaining.*in sync"
        )
        self.assertEqual(self.volumes(), [0, VOLUMES, VOLUMES])
        (disk,) = self.cluster.config.disks.values()
        self.assertEqual((len(disk.children), len(disk.mirrors), len(set(disk.minors))), (VOLUMES, 2, 2))
        self.assertEqual(self.ok("gnt-instance info web1").count("in sync, status ok"), 2)
        self.assertNotIn(disk.secrets[0], self.ok("gnt-instance info web1"))
        self.assertEqual(
            self.ok("gnt-instance list --no-headers -o pnode,snodes,disk_usage web1").split()[1:],
            ["node3.example.com", "1.1G"],
        )
        self.ok("gnt-instance remove -f web1")
        self.assertEqual(self.volumes(), [0, 0, 0])

    def test_not_waited_for(self) -> None:
        """Who does not want to wait has it running while its mirror is filled."""
        told = self.ok(f"{ADD} --no-wait-for-sync -n node2:node3 web1")
        self.assertNotIn("sync", told)
        self.assertIn("RECOVERING", self.ok("gnt-instance info web1"))
        self.cluster.pass_time(1000)
        self.assertEqual(self.ok("gnt-instance info web1").count("in sync, status ok"), 2)

    def test_neither_installed_nor_started(self) -> None:
        """Its disks are in sync, and down on both nodes."""
        self.ok(f"{ADD} --no-install -n node2:node3 web1")
        homes = [self.cluster.node(number).mirror_node for number in (2, 3)]
        self.assertEqual([home and home.devices.behind for home in homes], [{}, {}])
        self.ok("gnt-instance startup web1")
        self.assertEqual(self.ok("gnt-instance info web1").count("in sync, status ok"), 2)

    def test_never_in_sync(self) -> None:
        """Two nodes that do not reach each other: nothing is left of the instance."""
        self.wire.split(*(self.cluster.node(number).address for number in (2, 3)))
        self.fails(f"{ADD} -n node2:node3 web1", "not up to date")
        self.assertEqual((self.volumes(), dict(self.cluster.config.instances)), ([0, 0, 0], {}))

    def test_cut_while_in_sync(self) -> None:
        """When the two lose each other for good before they are alike, it is told as degraded and taken back."""

        def cut(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, BlockdevGetmirrorstatus):
                self.wire.split(*(self.cluster.node(number).address for number in (2, 3)))

        self.cluster.network.fault = cut
        self.fails(f"{ADD} -n node2:node3 web1", "there are some degraded disks for instance web1")
        self.assertEqual((self.volumes(), dict(self.cluster.config.instances)), ([0, 0, 0], {}))

    def test_killed_at_every_moment(self) -> None:
        """Whenever its process is killed: a fresh one takes it back on both nodes, without knowing the mirror's secret."""
        undone = 0
        for moment in (
            *(2.0 + step * 0.006 for step in range(12)),
            30.0,
            100.0,
            *(102 + step * 0.6 for step in range(8)),
        ):
            self.cluster = self.new_cluster()
            job_id = self.scene().submit(f"{ADD.replace('add', 'add --submit')} -n node2:node3 web1")
            self.cluster.pass_time(moment)
            process_id = self.job(job_id).process_id
            if process_id in self.cluster.zygote.runners and not self.job(job_id).finalized:
                self.cluster.zygote.kill(process_id or 0)
            self.cluster.pass_time(60)
            where = f"killed after {moment:g} s: {self.job(job_id).ops[0].result}"
            self.assertTrue(self.job(job_id).finalized, where)
            if self.statuses(job_id) == ["success"]:
                self.assertEqual(self.volumes(), [0, VOLUMES, VOLUMES], where)
            else:
                undone += "taken back" in str(self.job(job_id).ops[0].result)
                self.assertEqual(self.volumes(), [0, 0, 0], where)
                self.assert_nothing_left(self.cluster)
            self.assert_nothing_held(self.cluster)
            self.cluster.end()
        self.assertGreater(undone, 8)
        self.cluster = self.new_cluster()

    def test_no_secret_in_the_job(self) -> None:
        """What stands in the job's file while it waits, so that others could go on with it, has no secret."""
        job_id = self.scene().submit(f"{ADD.replace('add', 'add --submit')} -n node2:node3 web1")
        self.cluster.pass_time(30)
        (disk,) = self.cluster.config.disks.values()
        text = self.cluster.master.disk.read(self.cluster.paths.job_file(job_id), 1 << 20).decode()
        self.assertIn("blockdev_remove", text)
        self.assertNotIn(disk.secrets[0], text)
        self.cluster.pass_time(200)
        self.assertEqual(self.statuses(job_id), ["success"])

    def test_second_node_dies(self) -> None:
        """What was made on the first node is taken back."""
        self.cluster.lose_power(self.cluster.node(3), Random(1))
        self.fails(f"{ADD} -n node2:node3 web1", "node3")
        self.assertEqual((self.volumes()[1], dict(self.cluster.config.instances)), (0, {}))

    def die_at(self, kind: type[NodeCall[object]]) -> None:
        """The third node loses its power as soon as it is asked for something; what it has is on its disks."""

        def dies(node: str, call: NodeCall[object]) -> None:
            if isinstance(call, kind) and node.startswith("node3"):
                self.cluster.network.fault = None
                self.cluster.lose_power(self.cluster.node(3), Random(1))

        self.cluster.network.fault = dies

    def test_second_node_dies_with_volumes(self) -> None:
        """What it then has of an instance that is not configured a command removes that is told, with their names."""
        self.die_at(BlockdevCreate)
        status, told, _ = self.scene().run([*ADD.split(), "-n", "node2:node3", "web1"])
        self.assertEqual((status, self.volumes()[1], dict(self.cluster.config.instances)), (1, 0, {}))
        self.assertRegex(
            told, r"'gnt-cluster command -n node3\S* \"lvremove -f xenvg/\S*_data xenvg/\S*_meta\"' removes them"
        )

    def test_second_node_dies_with_disks_that_are_ready(self) -> None:
        """The instance stays configured, so that a command that is told takes them down and removes them."""
        self.die_at(BlockdevAssemble)
        status, told, _ = self.scene().run([*ADD.split(), "-n", "node2:node3", "web1"])
        self.assertEqual(status, 1)
        self.assertIn("when the node can be reached, remove it with 'gnt-instance remove web1'", told)
        self.cluster.node(3).boot()
        self.ok("gnt-instance remove -f web1")
        self.assertEqual((self.volumes(), dict(self.cluster.config.disks)), ([0, 0, 0], {}))

    def test_second_node_dies_with_a_further_disk_that_is_ready(self) -> None:
        """No configuration has it: the command that is told takes it down, if its minor is still its own, and removes it."""
        self.ok(f"{ADD} -n node2:node3 web1")
        self.die_at(BlockdevAssemble)
        told = self.scene().run(["gnt-instance", "modify", "--disk", "add:size=64M", "--ignore-ipolicy", "web1"])[1]
        self.assertRegex(
            told,
            r"'gnt-cluster command -n node3\S* \"drbdsetup show resource1 \| grep -qF xenvg/(\S*)_data &&"
            r" drbdsetup down resource1; lvremove -f xenvg/\1_data xenvg/\1_meta\"' removes them",
        )

    def test_volume_groups(self) -> None:
        """A name that no volume group can have, and one that a node has not, are refused before anything is made."""
        allowed = r"is no name of a volume group; letters, digits and _\+\.- are allowed, at most 127"
        fresh = ADD.replace(" -s 1G", "")
        for key, name in (("vg", "a/b"), ("vg", ".."), ("metavg", "-x"), ("metavg", "x" * 128)):
            self.fails(f"{fresh} --disk 0:size=1G,{key}={name} -n node2:node3 web1", f"disk/0: {key}: .*{allowed}")
        self.fails("gnt-group modify -D drbd:metavg=a/b default", f"diskparams.drbd.metavg: 'a/b' {allowed}")
        self.fails("gnt-cluster modify -D drbd:metavg=a/b", f"diskparams.drbd.metavg: 'a/b' {allowed}")
        home = self.cluster.node(3).mirror_node
        assert home is not None
        home.volumes.lost.add("fast")
        line = f"{fresh} --disk 0:size=1G,metavg=fast -n node2:node3 web1"
        self.fails(line, "volume group 'fast' missing on node node3.example.com")
        self.assertEqual([each for each in self.cluster.network.sent if isinstance(each.call, BlockdevCreate)], [])
        self.ok(f"{ADD} -n node2:node3 web1")
        added = "gnt-instance modify --disk add:size=1G,{} web1"
        self.fails(added.format("vg=a/b"), f"vg: 'a/b' {allowed}")
        self.fails(added.format("vg=fast"), "volume group 'fast' missing on node node3.example.com")

    def test_nodes(self) -> None:
        """It takes two."""
        self.fails(f"{ADD} -n node2 web1", "need 2 nodes; give a secondary node")
        self.fails(f"{ADD} -n node2:node2 web1", "cannot be the primary and the secondary node")
