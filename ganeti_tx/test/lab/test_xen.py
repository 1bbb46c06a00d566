"""Instances under a real Xen: its own tools keep the contract, and a cluster's commands take a guest through its whole life."""

from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.xen_case import LESS, MEMORY, XenCase
from ganeti_tx.test.lab.xen_image import GUEST_INITRD, GUEST_KERNEL
from ganeti_tx.test.lab.xen_page import MIGRATION

#: Seconds for a run of the contract.
CONTRACT_LIMIT = 2400.0
WHERE = "/tmp/contract"
CONTRACT = f"cd /tmp && python3 -m twisted.trial --temp-directory {WHERE} ganeti_tx.test.lab.on_xen 2>&1"
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


class ContractTests(XenCase):
    """The drivers themselves, on a machine that can have both kinds of guests."""

    init = "xen-hvm"

    def test_contract(self) -> None:
        """They keep the contract of hypervisors with the xl that is there, which their page is held to."""
        machine = self.lab.machine(1)
        ended = machine.ended(CONTRACT, limit=CONTRACT_LIMIT)
        print(ended.stdout)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertIn("PASSED", ended.stdout)
        for hypervisor, found in rows.noted(machine.run(f"cat {WHERE}/{rows.NOTED}")).items():
            rows.hold(hypervisor, found)


class LifeTests(XenCase):
    """A paravirtualised guest without disks."""

    name = "xen1.lab.example"

    def test_life(self) -> None:
        """An instance is made, started, looked at, given less memory, rebooted, migrated there and back, stopped and removed."""
        self.bring_up()
        here, there = self.here, self.there
        here.run(OTHER)
        self.addCleanup(here.ended, "xl destroy other")
        self.add("diskless")
        self.begins(here, "startup")
        self.counted(here, 3)
        self.shows("status,oper_ram,oper_vcpus", ["running", f"{MEMORY}M", "1"])
        for memory in (LESS, MEMORY):
            self.instance("modify", "--runtime-memory", str(memory))
            self.shows("oper_ram", [f"{memory}M"])
        self.assertIn("tick ", self.console(here))
        before = self.domain(here)
        self.begins(here, "reboot", "-t", "soft")
        self.assertNotEqual(self.domain(here), before)
        self.counted(here, 3)
        said = self.migrated(here, there)
        self.migrated(there, here)
        rows.hold("xen-pvm", {rows.MIGRATE: DONE})
        self.write(MIGRATION, said)
        self.instance("shutdown")
        for machine in (here, there):
            self.assertEqual(machine.run(f"ls /etc/xen | grep -c {self.name} || true").strip(), "0")
            self.assertNotIn(self.name, machine.run("xl list"))
        self.with_limits(here)
        self.begins(there, "failover", "-f", "-n", LabCluster.node_name(there))
        self.counted(there, 3)
        self.instance("remove", "-f")
        self.assertIn("other", here.run("xl list"))

    def with_limits(self, machine: Machine) -> None:
        """It is started with a part of a processor, and on one of them, which Xen then tells of."""
        self.instance("modify", "-H", "cpu_cap=40,cpu_weight=300,cpu_mask=1")
        self.begins(machine, "startup")
        weight = machine.run(f"xl sched-credit2 -d {self.name} | tail -n 1").split()
        self.assertEqual(weight, [self.name, self.domain(machine), "300", "40"])
        self.assertEqual(machine.run(f"xl vcpu-list {self.name} | tail -n 1").split()[6:], ["1", "/", "all"])
        self.assertEqual(machine.run(f"stat -c %a /etc/xen/{self.name}").strip(), "600")

    def migrated(self, source: Machine, target: Machine) -> dict[str, str]:
        """What was said while it went over. No count is lost or said twice."""
        self.counted(source, 3)
        printed = self.instance("migrate", "-f", "-n", LabCluster.node_name(target))
        last = self.ticks(source)[-1]
        found = self.counted(target, last + 5)
        new = found[found.index(last + 1) :] if last + 1 in found else found
        self.assertEqual(new, list(range(last + 1, new[-1] + 1)))
        log = f"cat /var/log/ganeti/xen/{self.name}-migration.log"
        said = {
            "``gnt-instance migrate``": printed,
            "What xl said on the source": source.run(log),
            "What xl said on the target": target.run(log),
            "The last that the guest said on the source": "\n".join(
                f"tick {number}" for number in self.ticks(source)[-3:]
            ),
            "The first that it said on the target": "\n".join(f"tick {number}" for number in new[:3]),
            "``xl list`` on the target": target.run("xl list"),
        }
        self.assertEqual(self.fields("pnode"), [LabCluster.node_name(target)])
        self.assertNotIn(self.name, source.run("xl list"))
        return said
