"""Instances under a real Xen: its own tools keep the contract, and a cluster's commands take a guest through its whole life."""

import os
import re
import time
from pathlib import Path

from twisted.trial.unittest import TestCase

from ganeti_tx.test.lab import xen_page
from ganeti_tx.test.lab.case import KeptLogs, xen_lab
from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.times import PAGES_VARIABLE
from ganeti_tx.test.lab.xen_image import GUEST_INITRD, GUEST_KERNEL

NAME = "xen1.lab.example"
GUEST = f"kernel_path={GUEST_KERNEL},initrd_path={GUEST_INITRD},root_path=,kernel_args=console=hvc0 quiet"
ADD = "gnt-instance add -t diskless -o noop --no-install --no-start --no-ip-check --no-name-check --no-nics --ignore-ipolicy"
#: MiB that the guest has, and may be left with.
MEMORY, LESS = 128, 112
#: Seconds for what the guest does, and for a run of the contract.
LIMIT = 300.0
CONTRACT_LIMIT = 2400.0
CONTRACT = "cd /tmp && python3 -m twisted.trial --temp-directory /tmp/contract ganeti_tx.test.lab.on_xen 2>&1"
#: Somebody else's domain, which a node's daemon has nothing to do with.
OTHER = f"""cat > /root/other.cfg <<'CONFIG'
name = "other"
type = "pv"
kernel = "{GUEST_KERNEL}"
ramdisk = "{GUEST_INITRD}"
extra = "console=hvc0 quiet"
memory = 112
CONFIG
xl create /root/other.cfg"""
TICK = re.compile(r"^tick (\d+)\r?$", re.MULTILINE)


def ticks(machine: Machine) -> list[int]:
    """The counts that the guest said on a machine, since its last start there; a guest that has come has a file of its own."""
    said = machine.ended(f"cat $(ls -t /var/log/xen/console/guest-{NAME}*.log | head -n 1)").stdout
    found = [int(number) for number in TICK.findall(said)]
    starts = [place for place, number in enumerate(found) if number == 1]
    return found[starts[-1] :] if starts else found


def counted(machine: Machine, beyond: int) -> list[int]:
    """What it says once it is beyond a number. @raise AssertionError: it does not get there."""
    deadline = time.monotonic() + LIMIT
    while not (said := ticks(machine)) or said[-1] <= beyond:
        assert time.monotonic() < deadline, f"it did not count beyond {beyond}: {said}"
        time.sleep(0.5)
    return said


class XenTests(KeptLogs, TestCase):
    """Two machines that Xen has booted."""

    def setUp(self) -> None:
        """Bring them up."""
        self.lab = xen_lab()
        self.cluster = LabCluster(self.lab)

    def test_contract(self) -> None:
        """The driver keeps the contract of hypervisors on a machine, with the xl that is there."""
        ended = self.lab.machine(1).ended(CONTRACT, limit=CONTRACT_LIMIT)
        print(ended.stdout)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertIn("PASSED", ended.stdout)

    def test_life(self) -> None:
        """An instance is made, started, looked at, given less memory, rebooted, migrated there and back, stopped and removed."""
        self.bring_up()
        here, there = self.lab.machine(1), self.lab.machine(2)
        here.run(OTHER)
        self.addCleanup(here.ended, "xl destroy other")
        nodes = [LabCluster.node_name(machine) for machine in (here, there)]
        self.cluster.ok(
            *ADD.split(), "-H", "xen-pvm", "-B", f"maxmem={MEMORY},minmem={LESS},vcpus=1", "-n", nodes[0], NAME
        )
        self.addCleanup(self.cluster.run, "gnt-instance", "remove", "-f", NAME)
        self.cluster.ok("gnt-instance", "startup", NAME)
        counted(here, 3)
        self.assertEqual(self.fields("status,oper_ram,oper_vcpus"), ["running", f"{MEMORY}M", "1"])
        self.cluster.ok("gnt-instance", "modify", "--runtime-memory", str(LESS), NAME)
        self.assertEqual(self.fields("oper_ram"), [f"{LESS}M"])
        self.cluster.ok("gnt-instance", "modify", "--runtime-memory", str(MEMORY), NAME)
        self.console(here)
        before = self.domain(here)
        self.cluster.ok("gnt-instance", "reboot", "-t", "soft", NAME)
        self.assertNotEqual(self.domain(here), before)
        counted(here, 3)
        said = self.migrated(here, there)
        self.migrated(there, here)
        if pages := os.environ.get(PAGES_VARIABLE):
            xen_page.write(Path(pages), said)
        self.cluster.ok("gnt-instance", "shutdown", NAME)
        for machine in (here, there):
            self.assertEqual(machine.run(f"ls /etc/xen | grep -c {NAME} || true").strip(), "0")
            self.assertNotIn(NAME, machine.run("xl list"))
        self.with_interface(here)
        self.cluster.ok("gnt-instance", "failover", "-f", "-n", nodes[1], NAME)
        counted(there, 3)
        self.cluster.ok("gnt-instance", "remove", "-f", NAME)
        self.assertIn("other", here.run("xl list"))

    def with_interface(self, machine: Machine) -> None:
        """It is started with a network interface, and with limits, which Xen then tells of."""
        limits = ["-H", "cpu_cap=40,cpu_weight=300,cpu_mask=0"]
        self.cluster.ok("gnt-instance", "modify", "--net", "add:link=br0", *limits, NAME)
        self.cluster.ok("gnt-instance", "startup", NAME)
        vif = f"vif{self.domain(machine)}.0"
        self.assertIn("master br0", machine.run(f"ip link show dev {vif}"))
        weight = machine.run(f"xl sched-credit2 -d {NAME} | tail -n 1").split()
        self.assertEqual(weight, [NAME, self.domain(machine), "300", "40"])
        self.assertEqual(machine.run(f"stat -c %a /etc/xen/{NAME}").strip(), "600")

    def bring_up(self) -> None:
        """The cluster, once."""
        if not self.cluster.is_up:
            self.cluster.up(("diskless",), ["-H", f"xen-pvm:xen_cmd=xl,{GUEST}"], "xen-pvm")
        self.cluster.start_nodes()

    def fields(self, names: str) -> list[str]:
        """Of the instance."""
        return self.cluster.ok("gnt-instance", "list", "--no-headers", "-o", names, NAME).split()

    def domain(self, machine: Machine) -> str:
        """The number of its domain."""
        return machine.run(f"xl domid {NAME}").strip()

    def console(self, machine: Machine) -> None:
        """The command of its console shows what it says."""
        command = self.cluster.ok("gnt-instance", "console", "--show-cmd", NAME)
        self.assertIn("ganeti_tx.xen_console", command)
        shown = machine.ended(f"timeout 20 script -qec 'python3 -m ganeti_tx.xen_console {NAME}' /dev/null < /dev/zero")
        self.assertIn("tick ", shown.stdout)

    def migrated(self, source: Machine, target: Machine) -> dict[str, str]:
        """What was said while it went over. No count is lost or said twice."""
        counted(source, 3)
        printed = self.cluster.ok("gnt-instance", "migrate", "-f", "-n", LabCluster.node_name(target), NAME)
        last = ticks(source)[-1]
        found = counted(target, last + 5)
        new = found[found.index(last + 1) :] if last + 1 in found else found
        self.assertEqual(new, list(range(last + 1, new[-1] + 1)))
        log = f"cat /var/log/ganeti/xen/{NAME}-migration.log"
        said = {
            "``gnt-instance migrate``": printed,
            "What xl said on the source": source.run(log),
            "What xl said on the target": target.run(log),
            "The last that the guest said on the source": "\n".join(f"tick {number}" for number in ticks(source)[-3:]),
            "The first that it said on the target": "\n".join(f"tick {number}" for number in new[:3]),
            "``xl list`` on the target": target.run("xl list"),
        }
        self.assertEqual(self.fields("pnode"), [LabCluster.node_name(target)])
        self.assertNotIn(NAME, source.run("xl list"))
        return said
