"""What a guest does while its disks are copied decides whether it is sent afterwards."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from attrs import define, field
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.copying import Copying
from ganeti_tx.node.hypervisor.kvm.ending import Ending
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.hypervisor.kvm.migration_tls import MigrationKeys
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.planned_state import planned_state
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.sending import Sending
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, PATHS, qemu_plan
from ganeti_tx.test.node.hypervisor.kvm.test_taken_over import told as told_of

PID = 70
TARGET = "192.0.2.3"
WHOLE = {"id": "copy-d0", "status": "ready", "current-progress": 7, "total-progress": 7}


@define
class Qemu:
    """One whose guest is in a run state, and the copies of whose disks are done as soon as they are begun."""

    status: str = "running"
    alive: bool = True
    copies: list[Mapping[str, Any]] = field(factory=list)
    told: list[str] = field(factory=list)
    is_lost = False

    async def execute(self, command: str, arguments: object = None) -> Any:
        """See `QmpClient`."""
        self.told.append(command)
        answers = {"query-status": {"status": self.status}, "query-jobs": self.copies}
        return answers.get(command, [] if command.startswith(("qom-", "query-named", "query-migrate-")) else {})

    def close(self) -> None:
        """See `QmpClient`."""

    def is_alive(self, pid: int, mark: Path) -> bool:
        """See `IQemuProcesses`."""
        return self.alive


class CopyingTests(SynchronousTestCase):
    """web1 goes to another node with its disks."""

    def setUp(self) -> None:
        files, clock, self.qemu = MemoryFiles(), Clock(), Qemu()
        monitors = Monitors(lambda socket: cast("Deferred[QmpClient]", succeed(self.qemu)))
        machines = OwnMachines(PATHS, files, cast(IQemuProcesses, self.qemu), monitors)
        nothing: Any = None
        keys = MigrationKeys(files, nothing)
        self.plan = qemu_plan(disks=[])
        layout = instance_layout(PATHS, NAME)
        put(files, layout.pid, str(PID).encode())
        files.mkdir(layout.runtime.parent)
        self.done(states.save(files, layout, planned_state(self.plan)))
        self.copying = Copying(machines, clock, keys)
        self.sending = Sending(machines, files, clock, cast(Ending, nothing), keys, nothing)

    def done(self, work: Any) -> Any:
        """What came of it."""
        return self.successResultOf(Deferred.fromCoroutine(work))

    def copied(self) -> None:
        """Its disks are, all."""
        self.qemu.copies = []
        self.done(self.copying.copy(self.plan.spec, TARGET, 1, None, "", None))
        self.qemu.copies = [WHOLE]
        self.assertTrue(self.done(self.copying.progress(NAME)).whole)

    def send(self, told: Mapping[str, Any] | None = None) -> str:
        """Send it; why it is not."""
        self.qemu.told.clear()
        why = self.why_not(self.sending.send(self.plan.spec, TARGET, True, None, "", told))
        self.assertEqual("migrate" in self.qemu.told, not why)
        return why

    def why_not(self, work: Any) -> str:
        """Why it is not done; nothing: it is."""
        why = [""]
        doing = Deferred.fromCoroutine(work)
        doing.addErrback(lambda failure: why.append(str(failure.trap(HypervisorError) and failure.value)))
        return why[-1]

    def test_as_before(self) -> None:
        """One that runs on is sent, and one that had been stopped before."""
        for status in ("running", "paused"):
            self.qemu.status = status
            self.copied()
            self.assertEqual(self.send(), "")

    def test_changed(self) -> None:
        """One that somebody has stopped meanwhile, or let run, is not sent: its new node was told otherwise."""
        for before, after in (("running", "paused"), ("paused", "running")):
            self.qemu.status = before
            self.copied()
            self.qemu.status = after
            self.assertTrue(self.done(self.copying.progress(NAME)).whole)
            self.assertIn(
                f"instance {NAME}: its guest was stopped, or let run, while its disks were copied", self.send()
            )

    def test_changed_before(self) -> None:
        """Nor is one that was stopped, or let run, since its new node was told of it, be it with its disks or without."""
        for before, after, what in (("running", "paused", "stopped"), ("paused", "running", "let run")):
            self.qemu.status = before
            told = told_of(self.plan.spec, {}, stopped=before == "paused")
            said = f"instance {NAME}: its guest was {what} since the migration was begun"
            self.assertEqual(self.send(told), "")
            self.qemu.status = after
            self.assertIn(said, self.send(told))
            self.assertIn(said, self.why_not(self.copying.copy(self.plan.spec, TARGET, 1, None, "", told)))
            self.assertEqual([each for each in self.qemu.told if each.startswith("blockdev")], [])

    def test_shut_down(self) -> None:
        """One that has shut down is copied no further, nor sent."""
        self.copied()
        self.qemu.status = "shutdown"
        self.assertEqual(self.done(self.copying.progress(NAME)).fault, "its guest has shut down")
        self.assertIn("its guest has shut down", self.send())

    def test_ended(self) -> None:
        """Nor is one whose QEMU has ended with its guest."""
        self.copied()
        self.qemu.alive = False
        self.assertEqual(self.done(self.copying.progress(NAME)).fault, "it does not run any more")
        self.assertIn("does not run", self.send())
