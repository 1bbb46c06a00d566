"""A cluster on nodes with systemd, made with the commands that an administrator types."""

import os
import time
from pathlib import Path
from shutil import copy
from typing import ClassVar

from twisted.trial.unittest import SkipTest

from ganeti_tx.test.nodes.case import NodesCase

INIT = (
    "gnt-cluster init --master-netdev eth0 --nic-parameters link=br0 --enabled-disk-templates file "
    "--enabled-hypervisors {hypervisors} cluster.example.com"
)
KVM = (
    "kvm -H kvm:kernel_path=/srv/shared/vmlinux,initrd_path=/srv/shared/initrd.img,'kernel_args=console=ttyS0 quiet',"
    "root_path=/dev/vda,serial_console=true,vnc_bind_address="
)
STORAGE = "mkdir -p /etc/ganeti && echo /srv/ganeti/file-storage > /etc/ganeti/file-storage-paths"
BUSYBOX_OS = "mkdir -p /srv/ganeti/os && cp -r /opt/ganeti_tx/share/ganeti_tx/os/busybox /srv/ganeti/os/"
#: Seconds until a former master's daemons have ended, and between looks.
SETTLE_LIMIT = 90.0
INTERVAL = 0.2
ON_MASTER = ("ganeti-master", "ganeti-rapi")
ON_ALL = ("ganeti-confd", "ganeti-mond", "ganeti-noded")


#: Says 6 to have clusters with IPv6 in all tests that say nothing of addresses.
VERSION_VARIABLE = "GANETI_TEST_NODES_IP_VERSION"


class SystemdClusterCase(NodesCase):
    """The nodes allow file storage and have a guest's operating system; there is no cluster yet."""

    #: Of the nodes' primary addresses.
    ip_version: ClassVar[str] = os.environ.get(VERSION_VARIABLE, "4")

    def setUp(self) -> None:
        """Do what is done before `gnt-cluster init`. With IPv6 the first network has no IPv4: what needs it there fails.

        @raise SkipTest: this machine has no IPv6.
        """
        super().setUp()
        if self.ip_version == "6":
            if "2001:db8::11/64" not in self.run_on(1, "ip -6 address show dev eth0"):
                raise SkipTest("this machine has no IPv6")
            for node in self.nodes.numbers:
                self.run_on(node, "ip -4 address flush dev eth0")
        for node in self.nodes.numbers:
            self.run_on(node, f"{STORAGE} && {BUSYBOX_OS}")

    def init(self, guest: Path | None = None, options: str = "") -> None:
        """Make the cluster on the first node.

        @param guest: the directory of a guest's kernel; without it KVM is not used. @param options: further ones.
        """
        if guest is not None:
            for name in ("vmlinux", "initrd.img"):
                copy(guest / name, self.nodes.state / "shared" / name)
        line = INIT.format(hypervisors="fake" if guest is None else KVM)
        own = f"--primary-ip-version {self.ip_version} {self.secondary(1)}"
        self.run_on(1, line.replace(" init ", f" init {own} {options} ", 1))

    def add_nodes(self) -> None:
        """Add all others."""
        for node in self.nodes.numbers[1:]:
            self.run_on(1, f"gnt-node add {self.secondary(node)} node{node}.example.com")

    def secondary(self, node: int) -> str:
        """The option that names a node's secondary address, where it needs one."""
        return f"-s 198.51.100.1{node}" if self.ip_version == "6" else ""

    def active(self, node: int) -> list[str]:
        """Which units of the program are up."""
        listed = self.run_on(node, "systemctl list-units --plain --no-legend --state=active 'ganeti-*.service'")
        return sorted(line.split()[0].removesuffix(".service") for line in listed.splitlines() if line.strip())

    def check_units(self, master: int, metadata: int = 0) -> None:
        """Every node runs what it should, once those have ended that hear of another master, and shows no unit in red.

        @param metadata: the node with an instance that asks it who it is.
        """
        for node in self.nodes.numbers:
            also = ["ganeti-metad"] if node == metadata else []
            wanted = sorted([*ON_ALL, *(ON_MASTER if node == master else ()), *also])
            deadline = time.monotonic() + SETTLE_LIMIT
            while (active := self.active(node)) != wanted and time.monotonic() < deadline:
                time.sleep(INTERVAL)
            self.assertEqual((node, active, self.nodes.failed_units(node)), (node, wanted, []))

    def check_nothing_runs(self, node: int) -> None:
        """No daemon, job or instance is left, and nothing is red."""
        left = self.run_on(node, "ps -eo comm=,args= | grep -E '^(ganeti|gnt|qemu)' || true")
        self.assertEqual((node, left, self.active(node), self.nodes.failed_units(node)), (node, "", [], []))

    def status(self, master: int, instance: str = "web1.example.com") -> str:
        """An instance's status as the list shows it."""
        return self.run_on(master, f"gnt-instance list --no-headers -o status {instance}").strip()

    def check_status(self, master: int, wanted: str) -> None:
        """The list shows it, if not at once: a node whose machine is busy answers too late for a list now and then."""
        deadline = time.monotonic() + SETTLE_LIMIT
        while (shown := self.status(master)) != wanted and time.monotonic() < deadline:
            time.sleep(INTERVAL)
        self.assertEqual(shown, wanted)
