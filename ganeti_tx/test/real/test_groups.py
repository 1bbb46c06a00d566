"""Node groups of a real cluster: daemons, jobs, and Debian's allocator."""

from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed

HAIL = Path("/usr/lib/ganeti/iallocators/hail")
ADD = "gnt-instance add -t diskless -o busybox+default --no-install --no-start --no-name-check --no-ip-check"


class GroupTests(SynchronousTestCase):
    """A devcluster of three nodes whose instances do not really run."""

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        self.cluster = DevClusterUnderTest(("--enabled-hypervisors=fake", "--enabled-disk-templates=diskless,file"))
        self.addCleanup(self.cluster.close)
        self.ok = self.cluster.ok

    def places(self) -> dict[str, str]:
        """In which group each instance is."""
        lines = self.ok("gnt-instance list --no-headers -o name,pnode.group").splitlines()
        return {line.split()[0]: line.split()[1] for line in lines}

    def use_hail(self) -> None:
        """Have Debian's allocator choose; so small a cluster has no spare node."""
        if not HAIL.exists():
            raise SkipTest(f"there is no {HAIL}; 'apt-get install ganeti-htools' brings it")
        place = Paths(Path(self.cluster.layout.master.root)).iallocator_search_path[0] / "hail"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(HAIL)
        self.ok("gnt-cluster modify -I hail --default-iallocator-params=-no-capacity-checks")

    def test_walk(self) -> None:
        """Groups are filled, chosen by default and by name, not chosen when unallocable, started, and emptied again."""
        self.use_hail()
        self.ok("gnt-group add rack2")
        self.ok("gnt-group assign-nodes rack2 node2 node3")
        self.ok(f"{ADD} web1")
        self.ok("gnt-cluster modify --default-group=rack2")
        self.ok(f"{ADD} web2")
        self.ok("gnt-group modify --alloc-policy=unallocable rack2")
        status, _, err = self.cluster.run([*ADD.split(), "web3"])
        self.assertEqual(status, 1)
        self.assertIn("rack2 (unallocable)", err)
        self.ok(f"{ADD} -g default web3")
        self.assertEqual(self.places(), {"web1": "default", "web2": "rack2", "web3": "default"})
        self.ok("gnt-instance startup --node-group --force-multiple default")
        running = self.ok("gnt-instance list --no-headers -o name,status").split()
        self.assertEqual(running, ["web1", "running", "web2", "ADMIN_down", "web3", "running"])
        self.ok("gnt-instance remove -f web2")
        self.ok("gnt-group evacuate rack2")
        self.ok("gnt-node modify -g default node2")
        self.ok("gnt-group assign-nodes default node3")
        self.assertIn("default is the cluster's default group now", self.ok("gnt-group remove rack2"))
        self.assertEqual(
            self.ok("gnt-group list --no-headers -o name,node_cnt,pinst_cnt").split(), ["default", "3", "2"]
        )
        self.ok("gnt-cluster verify")
