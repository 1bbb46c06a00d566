"""A fully virtualised guest under a real Xen, on an emulated processor that has what Xen wants for one."""

from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.xen_case import XenCase
from ganeti_tx.test.lab.xen_image import SECTOR
from ganeti_tx.test.lab.xen_page import FULL

MEMORY = 64


class FullyVirtualTests(XenCase):
    """A guest of one sector, which the firmware boots from its disk: it counts on its serial line, and hears nothing."""

    name = "full1.lab.example"
    init = "xen-hvm"

    def test_life(self) -> None:
        """It is started, has a console, a display and an interface, is rebooted, migrated there and back, and stopped."""
        self.bring_up()
        here, there = self.here, self.there
        self.add("drbd", "--disk", "0:size=4m", "--net", "0:link=br0", hypervisor="xen-hvm", memory=MEMORY)
        self.instance("activate-disks")
        here.run(f"dd if={SECTOR} of=$(ls /var/run/ganeti/instance-disks/{self.name}:0) bs=512 count=1 conv=fsync")
        self.instance("deactivate-disks")
        self.instance("startup")
        self.shows("status,oper_ram,oper_vcpus", ["running", f"{MEMORY}M", "1"])
        self.counts(here)
        self.shown(here)
        before = self.domain(here)
        self.instance("reboot", "-t", "soft")
        self.assertNotEqual(self.domain(here), before)
        self.counts(here)
        for source, target in ((here, there), (there, here)):
            first = self.counts(source)
            said = {"The configuration of its domain": source.run(f"cat /etc/xen/{self.name}")}
            said["``gnt-instance migrate``"] = self.instance("migrate", "-f")
            self.assertEqual(self.fields("pnode"), [LabCluster.node_name(target)])
            second = self.counts(target)
            self.assertGreater(second, first)
            said["What it said on its console before and after"] = f"tick {first}\ntick {second}"
            said["``xl list`` on the target"] = target.run("xl list")
            self.assertNotIn(self.name, source.run("xl list"))
        rows.hold("xen-hvm", {rows.MIGRATE: DONE})
        self.write(FULL, said)
        self.instance("shutdown", "--timeout=1")
        self.assertNotIn(self.name, here.run("xl list"))

    def counts(self, machine: Machine) -> int:
        """The last number that it says on its console."""
        found = [int(line[5:]) for line in self.console(machine).replace("\r", "").splitlines() if line[5:].isdigit()]
        self.assertNotEqual(found, [])
        return found[-1]

    def shown(self, machine: Machine) -> None:
        """Its display answers at its port, and its interface, of both kinds, is a port of the bridge."""
        port = self.fields("network_port")[0]
        self.assertIn(f"127.0.0.1:{port}", machine.run(f"ss -Hltn 'sport = :{port}'"))
        vif = f"vif{self.domain(machine)}.0"
        for interface in (vif, f"{vif}-emu"):
            self.assertIn("master br0", machine.run(f"ip link show dev {interface}"))
