"""A machine resets itself through its kernel when its master wants it."""

import time

from ganeti_tx.runtime.boot_id import BOOT_ID
from ganeti_tx.test.lab.case import LabCase, the_cluster
from ganeti_tx.test.lab.kept import LabFailed
from ganeti_tx.test.lab.machine import BOOT_LIMIT, Machine

INTERVAL = 2.0


def boot_of(machine: Machine) -> str:
    """Which boot it is; empty while it does not answer."""
    try:
        return machine.ended(f"cat {BOOT_ID}", limit=60).stdout.strip()
    except LabFailed:
        return ""


class PowercycleTests(LabCase):
    """The second machine of a cluster, whose master is elsewhere."""

    def test_reset(self) -> None:
        """The job is done before the machine is gone; it boots, and what had reached its disk is there."""
        cluster, machine = the_cluster(), self.machines[1]
        name, before = cluster.node_name(machine), boot_of(machine)
        self.assertNotEqual(before, "")
        machine.run("echo kept > /root/kept; sync; touch /run/gone")
        self.assertIn("Reboot scheduled in 5 seconds\n", cluster.ok("gnt-node", "powercycle", "--yes", name))
        deadline = time.monotonic() + BOOT_LIMIT
        while boot_of(machine) in ("", before):
            self.assertLess(time.monotonic(), deadline, f"{name} did not boot")
            time.sleep(INTERVAL)
        self.assertEqual(machine.run("test -e /run/gone || cat /root/kept; rm /root/kept"), "kept\n")
        cluster.start_nodes()
        cluster.ok("gnt-debug", "delay", "--no-master", "-n", name, "0")
