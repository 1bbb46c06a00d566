"""Mirrored instances leave nodes and groups in a whole cluster, for where Debian's hail finds room."""

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.hail import install_hail
from ganeti_tx.test.inprocess.mirrors import mirrored_cluster

ADD = "gnt-instance add -t drbd -s 1G -o noop -H fake --no-name-check --no-ip-check --ignore-ipolicy"


class MirroredEvacuationTests(ClusterCase):
    """Four nodes; web1 is mirrored from the first to the second."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster, self.wire = mirrored_cluster(4, seed)
        self.addCleanup(cluster.end)
        return cluster

    def setUp(self) -> None:
        super().setUp()
        install_hail(self.cluster)
        self.ok("gnt-cluster modify -I hail --default-iallocator-params no-capacity-checks")
        self.ok(f"{ADD} -n node1:node2 web1")

    def nodes(self) -> list[str]:
        """The primary and the secondary node of web1."""
        told = self.ok("gnt-instance list --no-headers --separator=: -o pnode,snodes web1").strip()
        return [name.split(".")[0] for name in told.split(":")]

    def assert_well(self) -> None:
        """It runs where it should, and both copies are whole."""
        self.cluster.pass_time(300)
        self.assertEqual(self.ok("gnt-instance info web1").count("in sync, status ok"), 2)
        self.assertEqual(self.ok("gnt-instance list --no-headers -o status web1"), "running\n")
        self.ok("gnt-cluster verify")

    def test_secondary(self) -> None:
        """The second copy comes to another node, by hail or as told."""
        said = self.ok("gnt-node evacuate -f -s node2")
        self.assertTrue(said.endswith("All instances evacuated successfully.\n"), said)
        primary, secondary = self.nodes()
        self.assertEqual(primary, "node1")
        self.assertIn(secondary, ("node3", "node4"))
        self.ok(f"gnt-node evacuate -f -n node2 {secondary}")
        self.assertEqual(self.nodes(), ["node1", "node2"])
        self.assert_well()

    def test_primary(self) -> None:
        """It runs where its second copy is, and the first one stays as the second."""
        self.ok("gnt-node evacuate -f -p --early-release node1")
        self.assertEqual(self.nodes(), ["node2", "node1"])
        self.assert_well()

    def test_group(self) -> None:
        """Both copies come to another group."""
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3 node4")
        said = self.ok("gnt-instance change-group --to rack2 web1")
        self.assertTrue(said.endswith("Instance 'web1' changed group successfully.\n"), said)
        self.assertEqual(sorted(self.nodes()), ["node3", "node4"])
        self.assert_well()

    def test_group_without_network(self) -> None:
        """Nothing is begun where the other group is not connected to an instance's network, which keeps its address."""
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node3 node4")
        self.ok("gnt-network add --network=10.9.0.0/29 lan")
        self.ok("gnt-network connect -N mode=routed,link=1 lan default")
        self.ok(f"{ADD} --net 0:network=lan,ip=pool -n node1:node2 web2")
        for line in ("gnt-instance change-group web2", "gnt-group evacuate --to rack2 default"):
            said = self.fails(line, "wrong_state.*\ninstance web2 cannot come to another node group")
            self.assertIn("rack2 is not connected to network lan; 'gnt-network connect' does that", said)
        self.ok("gnt-cluster verify")
        self.ok("gnt-network connect -N mode=routed,link=2 lan rack2")
        self.ok("gnt-instance change-group --to rack2 web2")
        listed = self.ok("gnt-instance list --no-headers --separator=: -o pnode.group,nic.ips,nic.links web2")
        self.assertEqual(listed, "rack2:10.9.0.1:2\n")
        self.assert_well()

    def test_cleaned_up(self) -> None:
        """What was left in two groups comes to be in that of its primary node."""
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes --force rack2 node2 node3")
        self.assertIn(
            "has primary and secondary nodes in different groups", self.scene().run(["gnt-cluster", "verify"])[1]
        )
        said = self.ok("gnt-instance change-group --cleanup web1")
        self.assertIn("Instance 'web1' is in group default.\n", said)
        self.assertEqual(self.nodes(), ["node1", "node4"])
        self.assert_well()
