"""Tests of a cluster whose nodes Xen has booted, and what its guests say."""

import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from twisted.trial.unittest import TestCase

from ganeti_tx.test.lab.case import KeptLogs, xen_lab
from ganeti_tx.test.lab.cluster import LabCluster
from ganeti_tx.test.lab.machine import Machine
from ganeti_tx.test.lab.times import PAGES_VARIABLE
from ganeti_tx.test.lab.xen_image import GUEST_INITRD, GUEST_KERNEL
from ganeti_tx.test.lab.xen_page import XenPage

#: MiB that a guest has, and may be left with.
MEMORY, LESS = 128, 112
KERNEL_ARGS = "console=hvc0 quiet"
GUEST = f"kernel_path={GUEST_KERNEL},initrd_path={GUEST_INITRD},root_path=,kernel_args={KERNEL_ARGS}"
#: The emulator of Debian 12's Xen knows no passwords of displays.
FULL = "boot_order=c,vnc_bind_address=127.0.0.1,vnc_password_file="
HYPERVISORS = ("-H", f"xen-pvm:xen_cmd=xl,{GUEST}", "-H", f"xen-hvm:xen_cmd=xl,{FULL}")
TEMPLATES = ("diskless", "file", "plain", "drbd")
ADD = "gnt-instance add -o noop --no-install --no-start --no-ip-check --no-name-check --no-nics --no-wait-for-sync --ignore-ipolicy"
#: Seconds for what a guest does, and between looks.
LIMIT = 300.0
PAUSE = 0.5
#: Seconds for a console to show so many lines.
CONSOLE_LIMIT, LINES = 40, 3
BEGINS = "begins\n"
TICK = re.compile(r"^tick (\d+)$", re.MULTILINE)


class XenCase(KeptLogs, TestCase):
    """Two machines that Xen has booted; `self.name` is the instance of a test.

    @cvar init: of the machines.
    """

    name: str
    init: ClassVar[str] = "xen"

    def setUp(self) -> None:
        """Bring them up."""
        self.lab = xen_lab(self.init)
        self.cluster = LabCluster(self.lab)

    def bring_up(self) -> None:
        """The cluster, once."""
        if not self.cluster.is_up:
            self.cluster.up(TEMPLATES, HYPERVISORS, "xen-pvm,xen-hvm")
        self.cluster.start_nodes()
        self.here, self.there = self.lab.machine(1), self.lab.machine(2)

    def add(self, template: str, *options: str, hypervisor: str = "xen-pvm", memory: int = MEMORY) -> None:
        """An instance that the test's end removes."""
        nodes = LabCluster.node_name(self.here)
        if template == "drbd":
            nodes += f":{LabCluster.node_name(self.there)}"
        size = f"maxmem={memory},minmem={min(memory, LESS)},vcpus=1"
        words = [*ADD.split(), "-t", template, "-H", hypervisor, "-B", size, "-n", nodes, *options, self.name]
        self.cluster.ok(*words)
        self.addCleanup(self.cluster.run, "gnt-instance", "remove", "-f", self.name)

    def instance(self, verb: str, *options: str) -> str:
        """What a command printed that did something to it."""
        return self.cluster.ok("gnt-instance", verb, *options, self.name)

    def fields(self, names: str) -> list[str]:
        """Of the instance."""
        return self.instance("list", "--no-headers", "-o", names).split()

    def shows(self, names: str, wanted: Sequence[str]) -> None:
        """Its fields come to be so: a list does not wait long for a machine that is slow. @raise AssertionError: they never do."""
        deadline = time.monotonic() + LIMIT
        while (found := self.fields(names)) != list(wanted):
            self.assertLess(time.monotonic(), deadline, f"{names}: {found}")
            time.sleep(PAUSE)

    def domain(self, machine: Machine) -> str:
        """The number of its domain."""
        return machine.run(f"xl domid {self.name}").strip()

    def begins(self, machine: Machine, verb: str, *options: str) -> None:
        """Do something by which its guest begins anew there; what it says is that of the new one from then on."""
        before = self.log(machine).count(BEGINS)
        self.instance(verb, *options)
        self.says(machine, lambda _: self.log(machine).count(BEGINS) > before)

    def log(self, machine: Machine) -> str:
        """What guests of its name said there, one after the other; one that has come has a file of its own."""
        files = f"/var/log/xen/console/guest-{self.name}*.log"
        return machine.ended(f"cat $(ls -t {files} | head -n 1)").stdout.replace("\r", "")

    def said(self, machine: Machine) -> str:
        """What its guest said there since its last start."""
        return self.log(machine).rpartition(BEGINS)[2]

    def ticks(self, machine: Machine) -> list[int]:
        """The counts among it."""
        return [int(found) for found in TICK.findall(self.said(machine))]

    def counted(self, machine: Machine, beyond: int) -> list[int]:
        """What it has counted once it is beyond a number. @raise AssertionError: it does not get there."""

        def far(said: str) -> bool:
            found = TICK.findall(said)
            return bool(found) and int(found[-1]) > beyond

        return [int(found) for found in TICK.findall(self.says(machine, far))]

    def says(self, machine: Machine, enough: Callable[[str], bool]) -> str:
        """What its guest has said once it is enough. @raise AssertionError: it never is."""
        deadline = time.monotonic() + LIMIT
        while not enough(said := self.said(machine)):
            self.assertLess(time.monotonic(), deadline, said)
            time.sleep(PAUSE)
        return said

    def write(self, page: XenPage, said: Mapping[str, str]) -> None:
        """The page of what was said, if pages are written."""
        if pages := os.environ.get(PAGES_VARIABLE):
            page.write(Path(pages), f"{type(self).__module__.rpartition('.')[2]}.py", said)

    def console(self, machine: Machine) -> str:
        """The first lines that the command of its console shows; nobody types anything."""
        self.assertIn("ganeti_tx.xen_console", self.instance("console", "--show-cmd"))
        shown = f"timeout {CONSOLE_LIMIT} script -qfec 'python3 -m ganeti_tx.xen_console {self.name}' /dev/null"
        return machine.ended(f"{shown} < <(sleep {CONSOLE_LIMIT} 2> /dev/null) | grep -am {LINES} 'tick '").stdout
