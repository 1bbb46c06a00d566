"""Everything within the machines: a cluster on Debian with systemd, as an administrator has it, that loses its master's power."""

import subprocess
import sys
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
PLAIN, MIRROR = "plain1.lab.example", "mirror1.lab.example"
#: Seconds that a command may take, as Python starts slowly there, and between looks.
LIMIT = 900.0
INTERVAL = 1.0
#: Calls a machine by SSH, by which who calls knows where its address is.
CALL = "import socket, sys; socket.create_connection((sys.argv[1], 22), timeout=10)"


class WholeTests(Chosen, TestCase):
    """Two machines, with nothing of their cluster outside. It is made once; the tests follow each other in their names' order."""

    always = frozenset()

    def setUp(self) -> None:
        """Have it."""
        super().setUp()
        self.lab = systemd_lab()
        self.first, self.second = self.lab.machines
        if self.first.ended("test -e /var/lib/ganeti/config.data").returncode != 0:
            self.join()

    def join(self) -> None:
        """Installed, made, joined over ssh."""
        for machine in (self.first, self.second):
            self.assertNotEqual(
                machine.ended("test -e /opt/ganeti_tx/bin").returncode, 0, "it could not be made before"
            )
            install(machine)
            self.on(machine, f"for name in {' '.join(NAMES)}; do ssh $name true; done")  # it knows their keys now
        self.on(self.first, INIT)
        self.neighbour(sys.executable, "-c", CALL, CLUSTER_ADDRESS)
        self.check_master_address(self.first)
        self.on(self.first, f"gnt-node add -s {address(2, 1)} {NAMES[1]}")

    def on(self, machine: Machine, line: str) -> str:
        """What a command says that must succeed there; and how long it took, on standard output."""
        began = time.monotonic()
        said = machine.run(f"export {REMOTE_LIMIT_VARIABLE}={LIMIT:.0f}; {line}", limit=LIMIT)
        print(f"{machine.name}: {line}: {time.monotonic() - began:.0f} s", flush=True)
        return said

    def add(self, name: str, template: str, nodes: str) -> None:
        """Make an instance with the guest that counts, and start it."""
        words = " ".join(f"'{word}'" for word in guest.options(name))
        self.on(self.first, f"{ADD} -t {template} {words} -n {nodes} {name}")
        self.on(self.first, f"gnt-instance startup {name}")

    def counted(self, machine: Machine, instance: str, beyond: int) -> list[int]:
        """What an instance's guest says there, once it is beyond a count."""
        deadline = time.monotonic() + guest.LIMIT
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

    def test_joined(self) -> None:
        """All is well in it."""
        self.on(self.first, "gnt-cluster verify")

    def test_plain(self) -> None:
        """An instance on a volume of the second node runs there, on the bridge."""
        self.add(PLAIN, "plain", NAMES[1])
        self.counted(self.second, PLAIN, 5)
        self.assertIn("master br0", self.on(self.second, "ip -o link show type tun"))
        self.on(self.first, f"gnt-instance remove -f --shutdown-timeout 0 {PLAIN}")

    def test_mirror(self) -> None:
        """An instance whose node loses its power goes on from its disk on the master, and is mirrored again when that is back."""
        first, second = self.first, self.second
        self.add(MIRROR, "drbd", ":".join(NAMES[::-1]))
        before = self.counted(second, MIRROR, 5)[-1]
        second.cut()
        self.on(first, f"gnt-node modify --offline=yes -f {NAMES[1]}")
        self.on(first, f"gnt-instance failover -f --ignore-consistency {MIRROR}")
        self.assertGreater(self.counted(first, MIRROR, before)[0], before)
        self.back(second, first)
        self.on(first, f"gnt-instance activate-disks --wait-for-sync {MIRROR}")
        self.on(first, "gnt-cluster verify")
        self.on(first, f"gnt-instance remove -f --shutdown-timeout 0 {MIRROR}")

    def test_role(self) -> None:
        """The master's power is cut: the other node has its role and its address; the first comes back as one of the others."""
        first, second = self.first, self.second
        first.cut()
        self.on(second, "gnt-cluster master-failover --no-voting --yes-do-it")
        self.check_master_address(second)
        self.on(second, f"gnt-node modify --offline=yes -f {NAMES[0]}")
        self.back(first, second)
        roles = self.on(second, "gnt-node list --no-headers -o name,role").split()
        self.assertEqual(roles, [NAMES[0], "C", NAMES[1], "M"])
        self.on(second, "gnt-cluster verify")

    def back(self, machine: Machine, master: Machine) -> None:
        """Its power is there again, and it belongs to the cluster."""
        machine.boot()
        machine.wait()
        self.on(master, f"gnt-node add --readd {NAMES[machine.node - 1]}")
