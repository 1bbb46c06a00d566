"""Nodes that are shared more often than the policy says: who names one is told."""

from ganeti_tx.test.inprocess.case import ClusterCase

ADD = "gnt-instance add -t sharedfile -s 1G -o noop --no-name-check --no-ip-check"
TOLD = (
    "node node2.example.com would have {} virtual CPUs for 4 processors; vcpu-ratio is 2 in the policy of group default"
)


class RatioTests(ClusterCase):
    """Every node has four processors and one spindle; web1 has six virtual CPUs on node2."""

    def setUp(self) -> None:
        super().setUp()
        self.ok("gnt-cluster modify --ipolicy-vcpu-ratio 2 --ipolicy-spindle-ratio 2")
        self.assertNotIn("would have", self.ok(f"{ADD} -B vcpus=6 -n node2 web1"))

    def test_made(self) -> None:
        """A new one; what is offline does not count."""
        self.assertIn(TOLD.format(9), self.ok(f"{ADD} -B vcpus=3 -n node2 web2"))
        self.ok("gnt-instance shutdown web1")
        self.ok("gnt-instance modify --offline web1")
        self.assertNotIn("would have", self.ok(f"{ADD} -B vcpus=3 -n node2 web3"))

    def test_changed(self) -> None:
        """One that is changed is counted once."""
        self.assertNotIn("would have", self.ok("gnt-instance modify -B vcpus=8 web1"))
        self.assertIn(TOLD.format(9), self.ok(f"{ADD} -B vcpus=1 -n node2 web2"))
        self.assertNotIn("would have", self.ok("gnt-instance modify -B vcpus=7 web1"))
        self.assertIn(TOLD.format(9), self.ok("gnt-instance modify -B vcpus=8 web1"))
        self.assertNotIn("would have", self.ok("gnt-instance modify --ignore-ipolicy -B vcpus=8,memory=256 web1"))
        self.assertNotIn("would have", self.ok("gnt-instance modify -B maxmem=256,minmem=128 web1"))

    def test_spindles(self) -> None:
        """So is each use of a spindle."""
        told = self.ok("gnt-instance modify -B spindle_use=3 web1")
        self.assertIn("node2.example.com would have 3 uses for 1 spindles; spindle-ratio is 2", told)

    def test_brought(self) -> None:
        """One that comes from elsewhere, running or not."""
        self.ok(f"{ADD} -B vcpus=3 -n node3 web2")
        self.assertIn(TOLD.format(9), self.ok("gnt-instance migrate -f -n node2 web2"))
        self.ok("gnt-instance failover -f -n node3 web2")
        self.assertIn(TOLD.format(9), self.ok("gnt-instance failover -f -n node2 web2"))
