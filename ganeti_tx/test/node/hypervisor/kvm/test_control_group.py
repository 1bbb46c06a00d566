"""Limits of machines: what the kernel or systemd is told, and where they cannot be had."""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec
from twisted.python.filepath import FilePath
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.control_group import GROUP, ControlGroup, faults
from ganeti_tx.node.hypervisor.scopes import SYSTEMD, Scopes
from ganeti_tx.test.node.hypervisor.kvm.parts import qemu_plan

LIMITS: dict[str, Any] = {"cpu_limit": 150, "cpu_weight": 50, "io_weight": 200, "memory_limit": 256}


class ControlGroupTests(SynchronousTestCase):
    """A directory in which files are made by who writes them, as the kernel makes them."""

    def setUp(self) -> None:
        self.top = Path(mkdtemp())
        self.addCleanup(FilePath(str(self.top)).remove)
        self.own_groups = self.top / "own"
        self.group = ControlGroup(Scopes(Path.exists, self.top / "systemd", self.own_groups), self.top)

    def test_own(self) -> None:
        """Without systemd the machine has a group of its own, with its limits before it is in there."""
        plan = qemu_plan(**LIMITS)
        self.assertEqual(self.group.command(plan, ["qemu"]), ["qemu"])
        self.group.enter(plan, 77)
        directory = self.top / GROUP / plan.spec.uuid
        told = {path.name: path.read_text() for path in directory.iterdir()}
        limits = {"cpu.max": "150000 100000", "cpu.weight": "50", "io.weight": "default 200", "memory.max": "268435456"}
        self.assertEqual(told, {**limits, "cgroup.procs": "77"})
        for parent in (self.top, directory.parent):
            self.assertEqual((parent / "cgroup.subtree_control").read_text(), "+cpu +io +memory")
        self.assertRaises(HypervisorError, self.group.leave, plan.spec.uuid)  # these files are no kernel's
        for path in directory.iterdir():
            path.unlink()
        for _ in range(2):
            self.group.leave(plan.spec.uuid)
        self.assertFalse(directory.exists())

    def test_other_scheduler(self) -> None:
        """Where the disks' scheduler is BFQ its file is written."""
        plan = qemu_plan(io_weight=200)
        directory = self.top / GROUP / plan.spec.uuid
        directory.mkdir(parents=True)
        (directory / "io.bfq.weight").touch()
        self.group.enter(plan, 77)
        self.assertEqual((directory / "io.bfq.weight").read_text(), "default 200")
        self.assertFalse((directory / "io.weight").exists())

    def test_scope(self) -> None:
        """With systemd it is started in a scope, which has the same limits and needs nobody to remove it."""
        (self.top / "systemd").mkdir()
        plan = qemu_plan(**LIMITS)
        argv = list(self.group.command(plan, ["qemu", "-S"]))
        self.assertEqual(argv[:2] + argv[-3:], ["systemd-run", "--scope", "--", "qemu", "-S"])
        for told in ("CPUQuota=150%", "CPUWeight=50", "IOWeight=200", "MemoryMax=256M"):
            self.assertIn(f"--property={told}", argv)
        self.group.enter(plan, 77)
        self.assertFalse((self.top / GROUP).exists())

    def test_scope_without_limits(self) -> None:
        """A daemon that is in its unit starts every machine in a scope, as who kills the unit would kill what is in it."""
        (self.top / "systemd").mkdir()
        self.own_groups.write_text("0::/system.slice/ganeti-noded.service\n")
        argv = list(self.group.command(qemu_plan(), ["qemu"]))
        self.assertEqual([each for each in argv if each.startswith("--property")], [])
        self.assertEqual(argv[:2] + argv[-2:], ["systemd-run", "--scope", "--", "qemu"])
        self.assertIn(f"--unit=ganeti-instance-{qemu_plan().spec.uuid}.scope", argv)

    def test_without(self) -> None:
        """A machine without limits is left where it is by a daemon that somebody has started by himself."""
        self.own_groups.write_text("0::/user.slice/user-0.slice/session-1.scope\n")
        (self.top / "systemd").mkdir()
        self.assertEqual(self.group.command(qemu_plan(), ["qemu"]), ["qemu"])
        self.group.enter(qemu_plan(), 77)
        self.assertEqual(sorted(path.name for path in self.top.iterdir()), ["own", "systemd"])

    def test_refused(self) -> None:
        """A node that cannot limit says so in one line; so does one that is told to give a guest less than it has."""
        params = msgspec.convert({"cpu_limit": 1, "io_weight": 5}, KvmParams)
        (fault,) = faults(params, lambda path: path == SYSTEMD)
        self.assertIn("cpu_limit, io_weight: this node has no control groups of version 2", fault)
        self.assertEqual(list(faults(params, lambda path: True)), [])
        self.assertEqual(list(faults(KvmParams(), lambda path: False)), [])
        error = self.assertRaises(HypervisorError, self.group.check, qemu_plan(memory_limit=64))
        self.assertIn("memory_limit: 64 MiB are less than the 128 MiB of the guest", str(error))
