"""Containers on a machine with the second version of control groups."""

import os

from twisted.trial.unittest import SkipTest

from ganeti_tx.node.hypervisor.lxc.control_groups import TOP
from ganeti_tx.test.lab.case import CAMPAIGN_VARIABLE, LabCase

CASE = "ganeti_tx.test.real.test_lxc.LxcTests"
#: What control groups and the kernel have a part in.
TESTS = (
    "limits",
    "walls",
    "memory",
    "devices",
    "inside",
    "ended",
    "power_off",
    "shell_on_console",
    "network",
    "partition",
)
#: Seconds for all of them, each of which Python alone takes some ten for.
LIMIT = 1500.0


class UnifiedGroupsTests(LabCase):
    """What the driver's own tests find, which run there."""

    def test_driver(self) -> None:
        """Limits, devices, walls, console and ends of containers are as with the first version."""
        if CAMPAIGN_VARIABLE not in os.environ:
            raise SkipTest("'bin/lab campaign' runs this one")
        machine = self.machines[0]
        self.assertEqual(machine.run(f"stat -f -c %T {TOP}"), "cgroup2fs\n")
        chosen = " ".join(f"{CASE}.test_{each}" for each in TESTS)
        machine.run("modprobe loop; apparmor_parser -r /etc/apparmor.d/lxc-containers")
        runs = "cd /tmp && python3 -m twisted.trial --reporter=text --temp-directory lxc"
        said = machine.run(f"{runs} {chosen}", limit=LIMIT)
        self.assertIn(f"PASSED (successes={len(TESTS)})", said)
