"""A cluster whose nodes are machines: what its commands do to real volumes."""

from ganeti_tx.test.lab.case import LabCase, the_cluster

ADD = "gnt-instance add -t plain --disk 0:size=1G -H fake -o noop --no-install --no-start"
CHECKS_NO_NAMES = ["--no-ip-check", "--no-name-check"]
INSTANCE = "web1.lab.example"


class PlainTests(LabCase):
    """An instance on logical volumes."""

    def test_life(self) -> None:
        """Its disk is a volume of the node's group, which grows with it and goes with it; the other node has nothing."""
        cluster = the_cluster()
        here, other = self.machines[0], self.machines[1]
        cluster.ok(*ADD.split(), *CHECKS_NO_NAMES, "-n", cluster.node_name(here), INSTANCE)
        self.addCleanup(cluster.run, "gnt-instance", "remove", "-f", INSTANCE)
        volumes = "lvs --noheadings --nosuffix --units m -o lv_size xenvg"
        self.assertEqual(here.run(volumes).split(), ["1024.00"])
        self.assertEqual(other.run(volumes).split(), [])
        cluster.ok("gnt-instance", "grow-disk", INSTANCE, "0", "64M")
        self.assertEqual(here.run(volumes).split(), ["1088.00"])
        cluster.ok("gnt-instance", "remove", "-f", INSTANCE)
        self.assertEqual(here.run(volumes).split(), [])
