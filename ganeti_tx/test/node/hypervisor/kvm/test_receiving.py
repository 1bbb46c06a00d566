"""A machine that has come is reached, however often that must be tried."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import attrs
from attrs import define, field
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.hypervisor.kvm.looking import UNREACHED, Looking
from ganeti_tx.node.hypervisor.kvm.migration_tls import MigrationKeys
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.planned_state import planned_state
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.receiving import Receiving
from ganeti_tx.node.hypervisor.kvm.state import NicState
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.node.hypervisor.kvm.parts import MAC, NAME, PATHS, qemu_plan

PID = 70
ROUTED = NicState(uuid="n0", mac=MAC, mode="routed", link="main", tap="tap0")


@define
class Qemu:
    """One to which a machine comes."""

    status: str = "running"
    is_lost = False

    async def execute(self, command: str, arguments: object = None, timeout: float = 0.0) -> Any:
        """See `QmpClient`."""
        return [] if command.startswith("qom-") else {"status": self.status, "actual": 128 << 20}

    def close(self) -> None:
        """See `QmpClient`."""

    def is_alive(self, pid: int, mark: Path) -> bool:
        """See `IQemuProcesses`."""
        return True

    def cpu_seconds(self, pid: int) -> float:
        """See `IQemuProcesses`."""
        return 1.0


@define
class Ways:
    """The node's end of its interfaces, which some trouble keeps from being connected."""

    trouble: str = "no such vlan"
    connected: list[str] = field(factory=list)

    async def connect_late(self, nics: Sequence[NicState]) -> None:
        """See `Network`."""
        if self.trouble:
            raise HypervisorError(self.trouble)
        self.connected += [nic.tap for nic in nics]

    def end(self, name: str) -> None:
        """See `ComingMachines`."""


class TakeOverTests(SynchronousTestCase):
    """web1 has come, with a routed interface."""

    def setUp(self) -> None:
        files, self.qemu, self.ways = MemoryFiles(), Qemu("inmigrate"), Ways()
        monitors = Monitors(lambda socket: cast("Deferred[QmpClient]", succeed(self.qemu)))
        processes = cast(IQemuProcesses, self.qemu)
        machines = OwnMachines(PATHS, files, processes, monitors)
        plan = attrs.evolve(qemu_plan(nics=[ROUTED]), incoming=True)
        layout = instance_layout(PATHS, NAME)
        put(files, layout.pid, str(PID).encode())
        files.mkdir(layout.runtime.parent)
        self.done(states.save(files, layout, planned_state(plan)))
        nothing: Any = None
        ways: Any = self.ways
        keys = MigrationKeys(files, nothing)
        self.receiving = Receiving(machines, files, Clock(), nothing, nothing, nothing, ways, keys, ways)
        self.looking = Looking(machines, processes)

    def done(self, work: Any) -> Any:
        """What came of it."""
        return self.successResultOf(Deferred.fromCoroutine(work))

    def why(self) -> str:
        """What is told of it to who looks."""
        return str(self.done(self.looking.info(NAME)).why)

    def test_reached_later(self) -> None:
        """What could not be connected is told of, and connected when that is asked for again; then it is left alone."""
        self.assertEqual(self.why(), "")
        self.qemu.status = "running"
        failing = Deferred.fromCoroutine(self.receiving.take_over(NAME))
        self.assertIn("no such vlan", str(self.failureResultOf(failing, HypervisorError).value))
        self.assertEqual(self.why(), UNREACHED)
        self.ways.trouble = ""
        for _ in range(2):
            self.done(self.receiving.take_over(NAME))
            self.assertEqual((self.ways.connected, self.why()), (["tap0"], ""))
