"""The cluster as a whole: its nodes, its configuration, its tags."""

from ganeti_tx.model.config_data import decode
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

CONFIG_LIMIT = 1 << 24


class NodeTests(ClusterCase):
    """Nodes come and go."""

    def names(self) -> list[str]:
        """The nodes of the cluster."""
        return [name.split(".")[0] for name in self.ok("gnt-node list --no-headers -o name").split()]

    def test_node_is_added(self) -> None:
        """A new node is listed, has configuration and ssconf, and can take instances."""
        self.ok("gnt-node add node4")
        self.assertEqual(self.names(), ["node1", "node2", "node3", "node4"])
        disk, paths = self.cluster.node(4).disk, self.cluster.paths
        held = decode(disk.read(paths.config_file, CONFIG_LIMIT))
        self.assertEqual(held.serial_no, self.cluster.config.serial_no)
        self.assertIn(b"node4.example.com", disk.read(paths.ssconf_file("node_list"), 1000))
        self.ok("gnt-instance add -t file -s 1G -o noop -n node4 web1")
        self.assertEqual(self.cluster.running(), {"node4.example.com": ["web1.example.com"]})

    def test_every_node_hears_of_it(self) -> None:
        """All nodes learn of a new one by ssconf."""
        self.ok("gnt-node add node4")
        self.cluster.pass_time(1)
        for node in self.cluster.members:
            names = node.disk.read(self.cluster.paths.ssconf_file("node_list"), 1000)
            self.assertIn(b"node4.example.com", names, node.name)

    def test_twice(self) -> None:
        """A node that is there is not added again."""
        self.fails("gnt-node add node2", "already in the cluster")

    def test_unknown_host(self) -> None:
        """A name that does not resolve is refused by the job too."""
        op = {"OP_ID": "OP_NODE_ADD", "node_name": "nobody", "reason": []}
        job_id = self.luxi().submit_job([op])
        self.cluster.pass_time(2)
        self.assertEqual(self.statuses(job_id), ["error"])
        self.assertIn("nobody", str(self.job(job_id).ops[0].result))

    def test_daemon_that_does_not_run(self) -> None:
        """A machine whose node daemon does not answer is not added."""
        self.cluster.network.cut_off.add(self.cluster.node(4).address)
        self.fails("gnt-node add node4", "node4.example.com did not answer")
        self.assertEqual(self.names(), ["node1", "node2", "node3"])

    def test_node_is_removed(self) -> None:
        """A removed node forgets the cluster, its daemon ends, and the others are not told of it any more."""
        self.ok("gnt-node remove node3")
        self.cluster.pass_time(5)
        self.assertEqual(self.names(), ["node1", "node2"])
        node, paths = self.cluster.node(3), self.cluster.paths
        self.assertIsNone(node.daemon)
        for path in (paths.config_file, paths.client_pem, paths.server_pem, paths.ssconf_file("node_list")):
            self.assertFalse(node.disk.exists(path), str(path))

    def test_copy_that_comes_late(self) -> None:
        """A copy of a job that comes when a node has forgotten all, and before its daemon has ended, does not stay."""
        node, paths = self.cluster.node(3), self.cluster.paths

        def late(name: str, call: object) -> None:
            left = not node.disk.exists(paths.server_pem) and node.daemon is not None
            if left and not node.disk.exists(paths.job_file(99)):
                put(node.disk, paths.job_file(99), b"{}")
                self.came = True

        self.came = False
        self.cluster.network.fault = late
        self.ok("gnt-node remove node3")
        self.cluster.pass_time(5)
        self.assertTrue(self.came)
        self.assertFalse(node.disk.exists(paths.job_file(99)))

    def test_node_comes_back(self) -> None:
        """A node that was removed can be added again."""
        self.ok("gnt-node remove node3")
        self.cluster.pass_time(5)
        self.ok("gnt-node add node3")
        self.assertEqual(self.names(), ["node1", "node2", "node3"])

    def test_readd(self) -> None:
        """A node that was set up anew is taken in again with --readd and keeps its identity."""
        before = self.scene().field("node", "node3", "uuid")
        self.cluster.node(3).stop()
        self.ok("gnt-node add --readd node3")
        self.assertEqual(self.scene().field("node", "node3", "uuid"), before)

    def test_silent_node_is_removed(self) -> None:
        """A node that does not answer can be removed, with a warning."""
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        self.assertIn("WARNING", self.ok("gnt-node remove node3"))
        self.assertEqual(self.names(), ["node1", "node2"])

    def test_master_stays(self) -> None:
        """The master cannot be removed."""
        self.fails("gnt-node remove node1", "is the master")

    def test_node_with_instances_stays(self) -> None:
        """A node that has an instance cannot be removed."""
        self.ok("gnt-instance add -t diskless -o noop -n node3 web1")
        self.fails("gnt-node remove node3", "web1.example.com still lives on node node3.example.com")


class SilenceTests(ClusterCase):
    """A node that does not answer keeps nobody else from working."""

    def setUp(self) -> None:
        super().setUp()
        self.cluster.network.cut_off.add(self.cluster.node(3).address)

    def test_others_work(self) -> None:
        """Instances can be made elsewhere, soon enough."""
        before = self.cluster.time.seconds()
        self.ok("gnt-instance add -t file -s 1G -o noop -n node2 web1")
        self.assertLess(self.cluster.time.seconds() - before, 300)

    def test_it_is_named(self) -> None:
        """What is asked of it fails, and the error names it."""
        self.fails("gnt-instance add -t file -s 1G -o noop -n node3 web1", "node3.example.com did not answer")
        self.assert_nothing_left(self.cluster)

    def test_lists_show_what_is_known(self) -> None:
        """A list of nodes shows all of them, the silent one without what only it could tell."""
        lines = self.ok("gnt-node list --no-headers -o name,mfree --separator=|").splitlines()
        self.assertEqual(lines[:2], ["node1.example.com|6144", "node2.example.com|6144"])
        self.assertRegex(lines[2], r"node3\.example\.com\|\D+$")

    def test_it_catches_up(self) -> None:
        """When it is back, it gets the newest configuration by itself."""
        self.ok("gnt-cluster add-tags web")
        node = self.cluster.node(3)
        self.cluster.network.cut_off.clear()
        self.cluster.pass_time(3600)
        held = decode(node.disk.read(self.cluster.paths.config_file, CONFIG_LIMIT))
        self.assertEqual(held.serial_no, self.cluster.config.serial_no)
        self.assertEqual(set(held.cluster.tags), {"web"})


class ClusterTests(ClusterCase):
    """The configuration and what is told of it."""

    def test_candidates_hold_copies(self) -> None:
        """Every master candidate has the same configuration and the same job files."""
        self.ok("gnt-cluster add-tags web")
        self.cluster.pass_time(1)
        paths = self.cluster.paths
        for path in (paths.config_file, paths.job_file(1), paths.queue_serial_file):
            first = self.cluster.master.disk.read(path, CONFIG_LIMIT)
            for node in self.cluster.members[1:]:
                self.assertEqual(node.disk.read(path, CONFIG_LIMIT), first, f"{path} on {node.name}")

    def test_tags_of_all_kinds(self) -> None:
        """Tags are found by a pattern, wherever they are."""
        self.ok("gnt-cluster add-tags web-one")
        self.ok("gnt-node add-tags node2 web-two other")
        luxi = self.luxi()
        job_id = luxi.submit_job([{"OP_ID": "OP_TAGS_SEARCH", "pattern": "^web", "reason": []}])
        self.cluster.pass_time(1)
        self.assertEqual(
            self.job(job_id).ops[0].result,
            [["/cluster", "web-one"], ["/nodes/node2.example.com", "web-two"]],
        )

    def test_bad_tag(self) -> None:
        """A tag with a character that is not allowed is refused, and nothing changes."""
        self.fails("gnt-cluster add-tags good bad;tag", "bad;tag")
        self.assertEqual(self.ok("gnt-cluster list-tags"), "")

    def test_drained_queue(self) -> None:
        """A drained queue takes no jobs until it is opened again; queries go on."""
        self.ok("gnt-cluster queue drain")
        self.ok("gnt-cluster redist-conf --yes-do-it")
        self.fails("gnt-cluster add-tags web", "drained")
        self.ok("gnt-instance list")
        self.ok("gnt-cluster queue undrain")
        self.ok("gnt-cluster add-tags web")

    def test_os_list(self) -> None:
        """An OS is listed when all nodes have it."""
        self.cluster.node(1).add_os("lonely")
        self.assertEqual(self.ok("gnt-os list --no-headers").split(), ["noop"])
        status, out, _ = self.scene().run(["gnt-os", "diagnose"])
        self.assertEqual(status, 1)
        self.assertIn("OS: lonely [global status: partial valid]", out)
