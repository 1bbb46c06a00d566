"""What LXC is told, also on nodes that this one is not."""

from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.hypervisors.lxc import LxcParams
from ganeti_tx.node.hypervisor.lxc.config_file import SECCOMP, config_text
from ganeti_tx.node.hypervisor.lxc.layout import container_layout
from ganeti_tx.node.hypervisor.lxc.record import VethState
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.node.hypervisor.kvm.parts import kvm_spec

VETH = VethState(uuid="n0", mac="aa:00:00:00:00:01", mode="bridged", link="br0", outside="veth0", inside="peer0")


class ConfigTests(SynchronousTestCase):
    """An instance with 128 MiB and two processors."""

    def lines(
        self, veths: tuple[VethState, ...] = (), *, unified: bool, seccomp: bool = True, **params: Any
    ) -> list[str]:
        """The file, by lines."""
        spec, layout = kvm_spec(), container_layout(Paths(Path("/n1")), "web1.example.com")
        return config_text(spec, LxcParams(**params), layout, veths, unified=unified, seccomp=seccomp).splitlines()

    def test_versions(self) -> None:
        """Limits and devices are told in the words of the node's version of control groups, and of no other."""
        second = self.lines(unified=True, cpu_mask="0-1,3", devices="c 1:3 rw")
        for line in (
            *("lxc.cgroup2.memory.max = 134217728", "lxc.cgroup2.cpu.max = 200000 100000"),
            *(
                "lxc.cgroup2.cpuset.cpus = 0,1,3",
                "lxc.cgroup2.devices.deny = a",
                "lxc.cgroup2.devices.allow = c 1:3 rw",
            ),
        ):
            self.assertIn(line, second)
        self.assertEqual([line for line in second if "cgroup." in line and ".dir." not in line], [])
        first = self.lines(unified=False)
        self.assertIn("lxc.cgroup.memory.limit_in_bytes = 134217728", first)
        self.assertEqual([line for line in first if "cgroup2" in line or "cpuset" in line], [])

    def test_walls(self) -> None:
        """What no guest may have is dropped whatever the parameter says; system calls are barred where LXC has the list."""
        dropped = next(
            line for line in self.lines(unified=True, drop_capabilities="") if line.startswith("lxc.cap.drop")
        )
        self.assertEqual(dropped, "lxc.cap.drop = bpf mac_admin perfmon syslog sys_rawio")
        barred = f"lxc.seccomp.profile = {SECCOMP}"
        self.assertIn(barred, self.lines(unified=True))
        self.assertNotIn(barred, self.lines(unified=True, seccomp=False))

    def test_interfaces(self) -> None:
        """Each is the inner end of a pair, under the name that guests expect; without any there is only the loop."""
        self.assertIn("lxc.net.0.type = empty", self.lines(unified=True))
        found = [line for line in self.lines((VETH,), unified=True) if line.startswith("lxc.net")]
        self.assertEqual(
            found,
            [
                f"lxc.net.0.{line}"
                for line in ("type = phys", "link = peer0", "name = eth0", f"hwaddr = {VETH.mac}", "flags = up")
            ],
        )

    def test_no_terminals(self) -> None:
        """Without terminals there is no console either."""
        self.assertIn("lxc.console.path = none", self.lines(unified=True, num_ttys=0))
