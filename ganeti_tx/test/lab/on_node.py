"""A cluster with one node as an administrator has it: Debian's systemd, our units, KVM. Its tests run in the campaign."""

import time
from collections.abc import Callable

from twisted.trial.unittest import TestCase

from ganeti_tx.test.lab import guest
from ganeti_tx.test.lab.case import KeptLogs, node_lab
from ganeti_tx.test.lab.cluster import FILE_STORAGE, LabCluster
from ganeti_tx.test.lab.installed import install
from ganeti_tx.test.lab.machine import Machine

TEMPLATES = ("plain", "file", "diskless")
COMMON = ["--no-ip-check", "--no-name-check", "--no-start", "-n", "node1.lab.example"]
DAEMON = "ganeti-noded"
#: Seconds until something on the machine is as it must be, and between looks.
LIMIT = 300.0
INTERVAL = 1.0


class NodeCase(KeptLogs, TestCase):
    """`self.machine` is the node; each test removes its instances."""

    machine: Machine
    cluster: LabCluster

    def setUp(self) -> None:
        """Bring both up, once."""
        lab = node_lab()
        self.machine, self.cluster = lab.machine(1), LabCluster(lab)
        if not self.cluster.is_up:
            install(self.machine)
            self.cluster.up(TEMPLATES, hypervisors="kvm")
        self.machine.run(f"systemctl start {DAEMON}", limit=LIMIT)
        self.machine.run(f"mkdir -p {FILE_STORAGE}")

    def add(self, name: str, *words: str, parameters: str = "", kernel_args: str = "") -> None:
        """Make an instance with the guest that counts, and start it. @param parameters: of KVM, more than it needs."""
        options = guest.options(name)
        options[1] += parameters and f",{parameters}"
        options[1] += kernel_args and f",kernel_args={kernel_args}"
        self.ok("gnt-instance", "add", *options, *COMMON, *(words or ["-t", "diskless"]), "--no-nics", name)
        self.addCleanup(self.cluster.run, "gnt-instance", "remove", "-f", "--shutdown-timeout", "0", name)
        self.ok("gnt-instance", "startup", name)

    def ok(self, *words: str) -> str:
        """What a command says that must succeed."""
        return self.cluster.ok(*words)

    def status(self, name: str) -> str:
        """Of an instance, as lists show it."""
        return self.ok("gnt-instance", "list", "--no-headers", "-o", "status", name).strip()

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for it."""
        deadline = time.monotonic() + LIMIT
        while not holds():
            self.assertLess(time.monotonic(), deadline, f"not within {LIMIT:.0f} s: {what}")
            time.sleep(INTERVAL)

    def monitor(self, name: str, command: str) -> None:
        """Say something to an instance's QEMU."""
        socket = f"/run/ganeti/kvm-hypervisor/ctrl/{name}.monitor"
        self.machine.run(f"(echo '{command}'; sleep 1) | socat - UNIX-CONNECT:{socket}")
