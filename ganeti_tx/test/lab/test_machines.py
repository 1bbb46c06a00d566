"""What machines have and this machine may lack; what a power cut and a pulled cable do."""

from ganeti_tx.test.lab.case import LabCase
from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.lab.network import address
from ganeti_tx.test.lab.processes import Kept

ONE_PING = "ping -c 1 -W 2 "


class MachineTests(LabCase):
    """A machine as a node of a cluster needs it."""

    def test_kernel(self) -> None:
        """LVM with a volume group, DRBD 8.4, an empty disk, and the name by which the others know it."""
        for machine in self.machines:
            self.assertEqual(machine.run("vgs --noheadings -o vg_name").split(), ["xenvg"])
            self.assertIn("version: 8.4.", machine.run("cat /proc/drbd"))
            self.assertEqual(machine.run("head -c 4096 /dev/vdc | tr -d '\\0' | wc -c").strip(), "0")
            self.assertEqual(machine.run("getent ahostsv4 $(hostname)").split()[0], address(machine.node))

    def test_program(self) -> None:
        """The program under test is there, with its commands."""
        self.assertIn("ganeti_tx", self.machines[0].run("gnt-cluster --version"))

    def test_refused(self) -> None:
        """A machine that is on is not booted twice; one that does not exist is told."""
        self.assertRaises(LabFailed, self.machines[0].boot)
        there = len(self.machines)
        said = str(self.assertRaises(LabFailed, self.lab.machine, there + 1))
        self.assertIn(f"1 to {there}, not {there + 1}", said)

    def test_cable(self) -> None:
        """Through a cable that was pulled nothing passes, on the other network all does, and both ends see their link up."""
        here, other = self.machines[0], self.machines[1]
        self.addCleanup(self.lab.network.mend, other.node, 1)
        here.run(ONE_PING + address(other.node, 1))
        self.lab.network.cut(other.node, 1)
        self.assertNotEqual(here.ended(ONE_PING + address(other.node, 1)).returncode, 0)
        here.run(ONE_PING + address(other.node))
        self.assertEqual(other.run("cat /sys/class/net/eth1/carrier"), "1\n")
        self.lab.network.mend(other.node, 1)
        here.run("ping -c 5 -W 5 " + address(other.node, 1))

    def test_power(self) -> None:
        """After a power cut what ran is gone; what was written to a volume is there."""
        machine = self.machines[0]
        self.addCleanup(machine.run, "lvremove -qf xenvg/kept")
        machine.run("lvcreate -q --yes -L 4m -n kept xenvg; echo written > /dev/xenvg/kept; sync; touch /run/gone")
        machine.cut()
        self.assertFalse(machine.is_on)
        machine.boot()
        machine.wait()
        self.assertEqual(machine.run("head -n 1 /dev/xenvg/kept"), "written\n")
        self.assertNotEqual(machine.ended("test -e /run/gone").returncode, 0)


class KeptProcessTests(LabCase):
    """Processes that outlive who started them."""

    def test_another(self) -> None:
        """A number that has become another's is not taken for the process, and not killed."""
        process = Kept(self.lab.state / "test-process")
        process.start(["sleep", "1000"])
        self.addCleanup(process.end)
        identity = process.name.with_suffix(".pid")
        right = identity.read_text()
        process.until(lambda: process.pid() is not None, "it did not start")
        identity.write_text(right.replace('"started":"', '"started":"1'))
        self.assertIsNone(process.pid())
        identity.write_text(right)
        self.assertIsNotNone(process.pid())
        process.end()
        self.assertIsNone(process.pid())
