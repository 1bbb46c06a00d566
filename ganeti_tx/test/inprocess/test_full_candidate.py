"""A candidate whose disk is full: whoever sends it something, or looks at what it has, is told so."""

import errno

from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.faulty_disk import FaultPlan, FaultyDisk


class FullCandidateTests(ClusterCase):
    """Three candidates; the disk of the third takes nothing more."""

    def setUp(self) -> None:
        self.cluster = InProcessCluster(3, make_disk=lambda time: FaultyDisk())
        self.addCleanup(self.cluster.end)
        self.cluster.pass_time(10)
        disk = self.cluster.node(3).disk
        assert isinstance(disk, FaultyDisk)
        self.fault = disk.fault = FaultPlan(errno.ENOSPC, 1, True)

    def test_redistribution(self) -> None:
        """It says which node did not get anything and why, until the disk is well."""
        self.assertRegex(self.ok("gnt-cluster redist-conf"), "WARNING: node node3.*No space left on device")
        self.fault.lift()
        self.assertNotIn("WARNING", self.ok("gnt-cluster redist-conf"))

    def test_verification(self) -> None:
        """What the node lacks, and why it could not be brought there."""
        self.ok("gnt-cluster add-tags one")
        status, told, _ = self.scene().run(["gnt-cluster", "verify"])
        self.assertEqual(status, 1)
        self.assertRegex(told, "ERROR: node node3.*configuration with serial number.*No space left on device")
        self.fault.lift()
        self.cluster.pass_time(600)
        self.ok("gnt-cluster verify")

    def test_silent(self) -> None:
        """Of a node that does not answer that is told."""
        self.fault.lift()
        self.cluster.network.cut_off.add(self.cluster.node(3).address)
        self.assertIn("WARNING: node node3", self.ok("gnt-cluster redist-conf"))
        self.cluster.network.cut_off.clear()
        self.cluster.pass_time(600)
