"""A guest on a cluster's machines: it boots in time, is stopped, and its disk has what it did."""

from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.case import LabCase, the_cluster

INSTANCE = "tick1.lab.example"
ADD = ["gnt-instance", "add", "-t", "plain", "--disk", "0:size=64M", "--no-ip-check", "--no-name-check", "--no-nics"]


class GuestTests(LabCase):
    """An instance that is a virtual machine in a virtual machine."""

    def test_life(self) -> None:
        """It counts, on its disk too; obeys the power button; started again, it goes on where it was."""
        cluster, here = the_cluster(), self.machines[0]
        cluster.ok(*ADD, *guest.options(INSTANCE), "-n", cluster.node_name(here), INSTANCE)
        self.addCleanup(cluster.run, "gnt-instance", "remove", "-f", INSTANCE)
        cluster.ok("gnt-instance", "startup", INSTANCE)
        guest.counted(here, INSTANCE, 5)
        cluster.ok("gnt-instance", "shutdown", INSTANCE)
        before = guest.ticks(here, INSTANCE)
        self.assertIn("power button", here.run(f"cat {guest.said_file(INSTANCE)}"))
        self.assertEqual(before, list(range(before[0], before[-1] + 1)))
        cluster.ok("gnt-instance", "activate-disks", INSTANCE)
        device = here.run("lvs --noheadings -o lv_path xenvg").strip()
        self.assertEqual(set(before) - set(guest.ticks_on_disk(here, device)), set())
        cluster.ok("gnt-instance", "startup", INSTANCE)
        self.assertEqual(guest.counted(here, INSTANCE, before[-1])[0], before[-1] + 1)
