"""Everything within the machines: a cluster on Debian with systemd, as an administrator has it, that loses its master's power."""

import subprocess
import time

from twisted.trial.unittest import TestCase

from ganeti_tx.bootstrap.remote_call import REMOTE_LIMIT_VARIABLE
from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.case import Chosen, systemd_lab
from ganeti_tx.test.lab.cluster import CLUSTER, CLUSTER_ADDRESS
from ganeti_tx.test.lab.installed import install
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.network import address

INIT = (
    f"gnt-cluster init --master-netdev br0 --secondary-ip {address(1, 1)} --nic-parameters link=br0"
    " --enabled-disk-templates plain,drbd --vg-name xenvg --enabled-hypervisors kvm -H kvm:kernel_path=,vnc_bind_address="
    f" {CLUSTER}"
)
NAMES = ("node1.lab.example", "node2.lab.example")
ADD = "gnt-instance add --disk 0:size=64M --no-ip-check --no-name-check"
#: Seconds that a command may take, as Python starts slowly there; until a guest counts, and between looks.
LIMIT = 900.0
COUNT_LIMIT = 200.0
INTERVAL = 1.0


class WholeTests(Chosen, TestCase):
    """Two machines, with nothing of their cluster outside."""

    always = frozenset()

    def on(self, machine: Machine, line: str) -> str:
        """What a command says that must succeed there."""
        return machine.run(f"export {REMOTE_LIMIT_VARIABLE}={LIMIT:.0f}; {line}", limit=LIMIT)

    def counted(self, machine: Machine, instance: str, beyond: int) -> list[int]:
        """What an instance's guest says there, once it is beyond a count."""
        deadline = time.monotonic() + COUNT_LIMIT
        while not (said := guest.ticks(machine, instance)) or said[-1] <= beyond:
            self.assertLess(time.monotonic(), deadline, f"{instance} did not count beyond {beyond}: {said}")
            time.sleep(INTERVAL)
        return said

    def neighbour(self, *words: str) -> str:
        """What a program says outside, on the machines' network."""
        inside = self.lab.network.inside(list(words))
        return subprocess.run(inside, capture_output=True, text=True, check=False, timeout=LIMIT).stdout

    def check_master_address(self, machine: Machine) -> None:
        """The neighbour, who was told and has not asked, knows the master's address to be a machine's."""
        mac = self.on(machine, "cat /sys/class/net/br0/address").strip()
        self.assertIn(mac, self.neighbour("ip", "neighbour", "show", CLUSTER_ADDRESS))

    def test_whole(self) -> None:
        """Installed, joined over ssh, with a plain and a mirrored instance on the bridge; the master's power is cut, and
        the other node has its role, its address and its instance, which goes on from its disk; then all is well again.
        """
        self.lab = systemd_lab()
        first, second = self.lab.machines
        for machine in (first, second):
            install(machine)
            self.on(
                machine, f"for name in {' '.join(NAMES)}; do ssh $name true; done"
            )  # from now on it knows their keys
        self.on(first, INIT)
        self.neighbour("ping", "-c", "1", "-W", "10", CLUSTER_ADDRESS)
        self.check_master_address(first)
        self.on(first, f"gnt-node add -s {address(2, 1)} {NAMES[1]}")
        for template, nodes, name in (("plain", NAMES[1], "plain1"), ("drbd", ":".join(NAMES), "mirror1")):
            words = " ".join(f"'{word}'" for word in guest.options(f"{name}.lab.example"))
            self.on(first, f"{ADD} -t {template} {words} -n {nodes} {name}.lab.example")
            self.on(first, f"gnt-instance startup {name}.lab.example")
        self.counted(second, "plain1.lab.example", 5)
        self.assertIn("master br0", self.on(second, "ip -o link show type tun"))
        before = self.counted(first, "mirror1.lab.example", 5)[-1]
        self.on(first, "gnt-cluster verify")
        first.cut()
        self.on(second, "gnt-cluster master-failover --no-voting --yes-do-it")
        self.check_master_address(second)
        self.on(second, f"gnt-node modify --offline=yes -f {NAMES[0]}")
        self.on(second, "gnt-instance failover -f --ignore-consistency mirror1.lab.example")
        self.assertGreater(self.counted(second, "mirror1.lab.example", before)[0], before)
        first.boot()
        first.wait()
        self.on(second, f"gnt-node add --readd {NAMES[0]}")
        self.on(second, "gnt-instance activate-disks --wait-for-sync mirror1.lab.example")
        self.on(second, "gnt-cluster verify")
        self.assertEqual(
            self.on(second, "gnt-node list --no-headers -o name,role").split(), [NAMES[0], "C", NAMES[1], "M"]
        )
