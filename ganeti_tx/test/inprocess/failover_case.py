"""The ground of tests in which another node becomes the master."""

from typing import Any

from ganeti_tx.mastership.ballot import ssconf_master
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.master_service import failover

TAG: dict[str, Any] = {"OP_ID": "OP_TAGS_SET", "kind": "cluster", "tags": ["after"], "reason": []}


class FailoverCase(ClusterCase):
    """Three candidates, of which node1 is the master."""

    def new_cluster(self, seed: int = 0) -> InProcessCluster:
        """One whose nodes vote."""
        cluster = InProcessCluster(3, seed, voting=True)
        self.addCleanup(cluster.end)
        return cluster

    def fail_over(self, number: int) -> list[str]:
        """Run the command on a node; what it said."""
        said: list[str] = []
        self.cluster.run(failover(self.cluster.daemons[self.cluster.node(number).name], said.append))
        return said

    def masters(self) -> list[str]:
        """Whose daemons run."""
        return [name.split(".")[0] for name, each in self.cluster.daemons.items() if each.luxid_process.alive]

    def followed(self) -> set[str | None]:
        """Whom the nodes follow."""
        return {ssconf_master(node.disk, self.cluster.paths) for node in self.cluster.members}

    def assert_master(self, number: int) -> None:
        """A node is the only master, all follow it, and it does what it is asked to."""
        self.assertEqual(self.masters(), [f"node{number}"])
        self.assertEqual(self.followed(), {self.cluster.node(number).name})
        luxi = self.luxi()
        job_id = luxi.submit_job([TAG])
        self.cluster.pass_time(30)
        self.assertEqual(self.statuses(job_id), ["success"])
        self.assertIn("after", self.cluster.config.cluster.tags)
