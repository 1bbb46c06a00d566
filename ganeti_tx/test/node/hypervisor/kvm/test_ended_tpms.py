"""A TPM that has ended before its machine is told of, and no other."""

from pathlib import Path
from typing import Any, cast

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.ended_tpms import EndedTpms
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.planned_state import planned_state
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.tpm import SoftwareTpm, marks
from ganeti_tx.node.hypervisor.scopes import Scopes
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.node.hypervisor.kvm.parts import PATHS, qemu_plan

QEMU, TPM = 70, 71


class Living:
    """All processes, until they end."""

    def __init__(self) -> None:
        self.pids = {QEMU}

    def is_alive(self, pid: int, mark: Path) -> bool:
        """Whether it has not ended."""
        return pid in self.pids


class EndedTpmsTests(SynchronousTestCase):
    """web1 runs, with a TPM."""

    def setUp(self) -> None:
        self.files, self.living = MemoryFiles(), Living()
        self.marks: dict[Path, list[int]] = {}
        nothing: Any = None
        processes = cast(IQemuProcesses, self.living)
        machines = OwnMachines(PATHS, self.files, processes, cast(Monitors, nothing))
        scopes = Scopes(self.files.exists)
        having = self.having
        tpm = SoftwareTpm(self.files, FakeProcessRunner(), processes, Clock(), scopes, nothing, having)
        self.tpms = EndedTpms(machines, tpm)
        self.plan = qemu_plan(tpm=True)
        self.layout = instance_layout(PATHS, self.plan.spec.name)
        put(self.files, self.layout.pid, str(QEMU).encode())
        self.files.mkdir(self.layout.runtime.parent)
        self.remember()

    def having(self, states: Path, mark: Path) -> list[int]:
        """The processes of TPMs."""
        return self.marks.get(mark, [])

    def remember(self, **params: Any) -> None:
        """What it was started with."""
        state = replace(planned_state(self.plan), params=replace(self.plan.params, **params))
        self.successResultOf(Deferred.fromCoroutine(states.save(self.files, self.layout, state)))

    def test_ended(self) -> None:
        """It is told of, and in the way of a migration."""
        (fault,) = self.tpms.faults()
        self.assertRegex(
            fault, r"instance web1.example.com: its TPM \(/usr/bin/swtpm\) has ended; .* stopped and started"
        )
        error = self.assertRaises(HypervisorError, self.tpms.check, self.layout, self.plan.params)
        self.assertIn("its TPM", str(error))

    def test_lives(self) -> None:
        """That of today, and one that an older version has started."""
        mark, _older = marks(self.layout)
        self.marks = {mark: [TPM]}
        self.assertEqual(self.tpms.faults(), [])
        self.tpms.check(self.layout, self.plan.params)
        self.marks = {}
        put(self.files, self.layout.tpm_pid, str(TPM).encode())
        self.living.pids.add(TPM)
        self.assertEqual(self.tpms.faults(), [])
        self.tpms.check(self.layout, self.plan.params)

    def test_none(self) -> None:
        """A machine that has none lacks none; one that has ended, or cannot be read, is somebody else's matter."""
        self.remember(tpm=False)
        self.assertEqual(self.tpms.faults(), [])
        self.tpms.check(self.layout, replace(self.plan.params, tpm=False))
        self.remember()
        self.living.pids.clear()
        self.assertEqual(self.tpms.faults(), [])
        put(self.files, self.layout.runtime, b"[")
        self.assertEqual(self.tpms.faults(), [])
