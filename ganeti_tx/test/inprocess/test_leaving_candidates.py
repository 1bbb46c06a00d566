"""Master candidates that leave: two at the same time, neither of which answers, and one while others are at work."""

from ganeti_tx.test.inprocess.case import ClusterCase, delay
from ganeti_tx.test.inprocess.cluster import InProcessCluster


class LeavingCandidatesTests(ClusterCase):
    """Four nodes, all candidates, of which the second and the third are gone."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """See `ClusterCase`."""
        cluster = InProcessCluster(4, seed)
        self.addCleanup(cluster.end)
        return cluster

    def leave(self) -> list[str]:
        """What becomes of the two jobs, which are under way at the same time."""
        for number in (2, 3):
            self.cluster.network.cut_off.add(self.cluster.node(number).address)
        luxi = self.luxi()
        jobs = [
            luxi.submit_job(
                [{"OP_ID": "OP_NODE_SET_PARAMS", "node_name": f"node{number}", "offline": True, "reason": []}]
            )
            for number in (2, 3)
        ]
        self.cluster.pass_time(30)
        return self.statuses(*jobs)

    def test_nobody_in_their_place(self) -> None:
        """Where nobody could take their place, both leave."""
        self.assertEqual(self.leave(), ["success", "success"])

    def test_counting_on_each_other(self) -> None:
        """Where somebody could, but is not to, the second is refused; with leave to promote it is replaced."""
        self.ok("gnt-cluster modify --candidate-pool-size=2")
        self.ok("gnt-node modify -C no node4")
        self.assertEqual(sorted(self.leave()), ["error", "success"])
        self.assertEqual(sum(node.master_candidate for node in self.cluster.config.nodes.values()), 2)
        left = next(
            node.name for node in self.cluster.config.nodes.values() if node.name[4] in "23" and not node.offline
        )
        self.fails(f"gnt-node modify -O yes {left}", "--auto-promote")
        self.assertIn("Promoted nodes", self.ok(f"gnt-node modify -O yes --auto-promote {left}"))

    def test_others_at_work(self) -> None:
        """A job on another node than those that change keeps nobody waiting, and goes on."""
        self.ok("gnt-cluster modify --candidate-pool-size=3")
        self.ok("gnt-node modify -C no node4")
        work = self.luxi().submit_job([delay(1000.0, on_master=False, on_nodes=["node3"])])
        self.cluster.pass_time(1)
        self.assertIn("role: node4", self.ok("gnt-node modify -O yes --auto-promote node2"))
        self.assertEqual(self.statuses(work), ["running"])
        self.cluster.pass_time(1000)
        self.assertEqual(self.statuses(work), ["success"])
