"""Who is let in where a machine arrives, as the kernel tells it."""

import errno
import os
import socket
from pathlib import Path
from typing import Any, cast

from attrs import define, field
from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.coming_machines import LATER, ComingMachines, Listener
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.own_machines import OwnMachines
from ganeti_tx.node.hypervisor.kvm.planned_state import planned_state
from ganeti_tx.node.hypervisor.kvm.processes import IQemuProcesses
from ganeti_tx.node.hypervisor.kvm.qmp import QmpClient
from ganeti_tx.node.hypervisor.kvm.state import Awaited
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.instance import named
from ganeti_tx.runtime.reactors import ILocalReactor
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, PATHS, qemu_plan


class Descriptors(Clock):
    """A reactor that looks at descriptors when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[Any] = set()

    def addReader(self, reader: Any) -> None:
        """See `IReactorFDSet`."""
        self.read.add(reader)

    def removeReader(self, reader: Any) -> None:
        """See `IReactorFDSet`."""
        self.read.discard(reader)

    def removeWriter(self, writer: Any) -> None:
        """See `IReactorFDSet`."""


class Full:
    """A socket that listens, whose next connections cannot be taken."""

    def __init__(self, opened: socket.socket, *faults: int) -> None:
        self.opened, self.faults = opened, list(faults)

    def accept(self) -> Any:
        """What the kernel says."""
        if self.faults:
            raise OSError(self.faults.pop(0), "not now")
        return self.opened.accept()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.opened, name)


@define
class Qemu:
    """One that waits, and is there as long as its pid file is; `reached` is the connection to it."""

    reached: "Deferred[QmpClient]" = field(factory=Deferred)
    told: list[str] = field(factory=list)
    is_lost = False

    async def execute(self, command: str, arguments: object = None, descriptor: int | None = None) -> None:
        """See `QmpClient`."""
        self.told.append(command)

    def close(self) -> None:
        """See `QmpClient`."""

    def is_alive(self, pid: int, mark: Path) -> bool:
        """See `IQemuProcesses`."""
        return True

    def when_ended(self, pid: int, mark: Path) -> "Deferred[None]":
        """See `IQemuProcesses`."""
        return Deferred()


class ListenerTests(SynchronousTestCase):
    """One connection comes."""

    def setUp(self) -> None:
        self.reactor: Any = Descriptors()
        self.opened = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.opened.close)
        self.came: list[bytes] = []

    def listen(self, *faults: int) -> Listener:
        """After these faults it can be taken."""
        listener: Any = Full(self.opened, *faults)
        link = socket.create_connection(self.opened.getsockname())
        self.addCleanup(link.close)
        link.sendall(b"x")
        return Listener(self.reactor, listener, self.take)

    def take(self, link: socket.socket) -> None:
        """It is handed on."""
        with link:
            self.came.append(link.recv(1))

    def test_gone_again(self) -> None:
        """One that has gone away, or whose network has, leaves place for the next."""
        listener = self.listen(errno.ECONNABORTED, errno.EHOSTUNREACH, errno.EAGAIN)
        for _ in range(3):
            listener.doRead()
            self.assertEqual((self.came, self.reactor.read), ([], {listener}))
        listener.doRead()
        self.assertEqual((self.came, self.reactor.read), ([b"x"], set()))

    def test_no_room(self) -> None:
        """Without room for it this machine is not asked again at once, as the answer would be the same; a little later it is."""
        listener = self.listen(errno.EMFILE)
        listener.doRead()
        self.assertEqual(self.reactor.read, set())
        self.reactor.advance(LATER)
        self.assertEqual(self.reactor.read, {listener})
        listener.doRead()
        self.assertEqual(self.came, [b"x"])

    def test_ended_meanwhile(self) -> None:
        """Nor later, when nobody waits for it any more."""
        listener = self.listen(errno.ENFILE)
        listener.doRead()
        listener.close()
        self.reactor.advance(LATER)
        self.assertEqual((self.came, self.reactor.read), ([], set()))


class HandOverTests(SynchronousTestCase):
    """web1 is waited for, and its old node has connected, and said something."""

    def setUp(self) -> None:
        self.files, self.qemu = MemoryFiles(), Qemu()
        monitors = Monitors(lambda socket: self.qemu.reached)
        machines = OwnMachines(PATHS, self.files, cast(IQemuProcesses, self.qemu), monitors)
        plan = qemu_plan()
        self.layout = plan.files
        put(self.files, self.layout.pid, b"70")
        self.files.mkdir(self.layout.runtime.parent)
        awaited = Awaited(address="127.0.0.1", port=0, source="127.0.0.1")
        self.done(states.save(self.files, self.layout, replace(planned_state(plan), awaited=awaited)))
        self.order = CallOrder(Terms(self.files, PATHS))
        reactor = Descriptors()
        coming = ComingMachines(cast(ILocalReactor, reactor), machines)
        coming.listen_again(lambda name: self.order.held([named(name)]))
        [self.listener] = reactor.read
        with socket.socket(fileno=os.dup(self.listener.fileno())) as opened:
            self.link = socket.create_connection(opened.getsockname())
        self.addCleanup(self.link.close)
        self.link.sendall(b"x")

    def done(self, work: Any) -> Any:
        """What came of it."""
        return self.successResultOf(Deferred.fromCoroutine(work))

    def test_taken(self) -> None:
        """QEMU gets it, and nobody is waited for any more."""
        self.qemu.reached.callback(cast(QmpClient, self.qemu))
        self.listener.doRead()
        self.assertEqual(self.qemu.told, ["getfd", "migrate-incoming"])
        state = states.load(self.files, self.layout)
        assert state is not None
        self.assertIsNone(state.awaited)

    def test_given_up(self) -> None:
        """While a call ends the machine nothing is handed over; afterwards nothing is left of it, nor written anew."""

        async def ends() -> None:
            async with self.order.held([named(NAME)]):
                self.listener.doRead()
                self.files.remove(self.layout.runtime)
                self.files.remove(self.layout.pid)
                self.qemu.reached.callback(cast(QmpClient, self.qemu))

        self.done(ends())
        self.assertEqual((self.qemu.told, states.load(self.files, self.layout)), ([], None))
        self.assertRaises(ConnectionResetError, self.link.recv, 1)
