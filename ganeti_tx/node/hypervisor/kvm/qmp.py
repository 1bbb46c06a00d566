"""The QMP protocol: one connection to one running QEMU."""

import errno
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred, fail
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.internet.error import ConnectError
from twisted.internet.interfaces import IReactorTime, IReactorUNIX, IUNIXTransport
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.qmp_messages import (
    Answer,
    Event,
    Greeting,
    Message,
    MessageBuffer,
    QmpMalformed,
    Refusal,
    encode,
)
from ganeti_tx.node.hypervisor.kvm.quiet_factory import QuietFactory

T = TypeVar("T")
#: Whether the data of an event are those that somebody waits for.
Wanted = Callable[[Mapping[str, Any]], bool]

CONNECT_TIMEOUT = 5.0
#: A healthy QEMU answers in milliseconds; on a node short of memory or I/O it may hang for seconds.
COMMAND_TIMEOUT = 10.0
MAX_PENDING = 100
#: How a socket answers at which nobody listens.
NOBODY = (errno.ENOENT, errno.ECONNREFUSED)


class QmpError(HypervisorError):
    """QEMU refused a command; the second argument is QMP's error class."""

    @property
    def error_class(self) -> str:
        """Such as "GenericError" or "CommandNotFound"."""
        return str(self._arg(1))

    def __str__(self) -> str:
        return str(self._arg(0))


class QmpLost(HypervisorError):
    """The connection is gone: most often since QEMU has ended."""


class QmpSilent(HypervisorError):
    """It does not answer: it hangs, or is busy with something that has no end."""


class QmpClient(Protocol):
    """Sends commands, each with an id and a time limit, and hands out answers and events.

    Several callers may have commands under way at once. Bytes that are not QMP end the connection, and all who wait
    get the reason.
    """

    def __init__(self, clock: IReactorTime) -> None:
        self.version: tuple[int, int, int] | None = None
        self._clock = clock
        self._buffer = MessageBuffer()
        self._last_id = 0
        self._pending: dict[int, tuple[str, Deferred[Any]]] = {}
        self._greeted: list[Deferred[None]] = []
        self._awaited: list[tuple[str, Wanted, Deferred[Event]]] = []
        self._end: HypervisorError | None = None
        self._ended: list[Deferred[None]] = []

    @property
    def is_lost(self) -> bool:
        """Whether the connection is gone."""
        return self._end is not None

    async def negotiate(self, timeout: float = CONNECT_TIMEOUT) -> None:
        """Wait for the greeting and leave the negotiation mode; to be called once, first.

        @raise HypervisorError: no greeting in time; QEMU serves one client of a socket at a time.
        """
        if self.version is None:
            greeted: Deferred[None] = Deferred(self._greeted.remove)
            self._greeted.append(greeted)
            await self._limited(greeted, timeout, "greeting")
        await self.execute("qmp_capabilities", timeout=timeout)

    def execute(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float = COMMAND_TIMEOUT,
        descriptor: int | None = None,
    ) -> Deferred[Any]:
        """What QEMU answers. The arguments never appear in an error, since they may hold a secret.

        @param descriptor: goes with the command; it must stay open until this is answered.

        @raise QmpError: QEMU refused. @raise QmpLost: no connection. @raise HypervisorError: no answer in time.
        """
        if self._end is not None:
            return fail(QmpLost(f"QMP {command}: {self._end}"))
        if len(self._pending) >= MAX_PENDING:
            return fail(HypervisorError(f"QMP {command}: {MAX_PENDING} commands are unanswered already"))
        self._last_id += 1
        command_id = self._last_id
        answered: Deferred[Any] = Deferred(lambda _: self._forget(command_id))
        self._pending[command_id] = (command, answered)
        assert self.transport is not None
        if descriptor is not None:
            IUNIXTransport(self.transport).sendFileDescriptor(descriptor)
        self.transport.write(encode(command, arguments, command_id))
        return self._limited(answered, timeout, command)

    def _forget(self, command_id: int) -> None:
        self._pending.pop(command_id, None)

    def next_event(self, name: str, timeout: float, wanted: Wanted = lambda data: True) -> Deferred[Event]:
        """The next event of that name, with data that are wanted, from now on. @raise HypervisorError: none in time."""
        if self._end is not None:
            return fail(QmpLost(f"QMP event {name}: {self._end}"))
        entry: tuple[str, Wanted, Deferred[Event]]
        happened: Deferred[Event] = Deferred(lambda _: self._awaited.remove(entry))
        entry = (name, wanted, happened)
        self._awaited.append(entry)
        return self._limited(happened, timeout, f"event {name}")

    def when_lost(self) -> Deferred[None]:
        """Fires once the connection is gone; may be cancelled."""
        gone: Deferred[None] = Deferred(self._ended.remove)
        if self._end is not None:
            gone.callback(None)
        else:
            self._ended.append(gone)
        return gone

    def close(self) -> None:
        """Hang up; what is under way fails."""
        if self.transport is not None:
            self.transport.abortConnection()  # type: ignore[attr-defined]  # every stream transport has it

    def dataReceived(self, data: bytes) -> None:
        """Cut what came into messages."""
        try:
            messages = self._buffer.feed(data)
        except QmpMalformed as error:
            self._finish(error)
            self.close()
            return
        for message in messages:
            self._take(message)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """Tell all who wait."""
        self._finish(QmpLost("the connection to QEMU is closed"))

    def _take(self, message: Message) -> None:
        match message:
            case Greeting(version):
                self.version = version
                for greeted in self._greeted[:]:
                    self._greeted.remove(greeted)
                    greeted.callback(None)
            case Event(name, data):
                for entry in [entry for entry in self._awaited if entry[0] == name and entry[1](data)]:
                    self._awaited.remove(entry)
                    entry[2].callback(message)
            case Answer(int(command_id), value) if command_id in self._pending:
                self._pending.pop(command_id)[1].callback(value)
            case Refusal(int(command_id), error_class, text) if command_id in self._pending:
                command, answered = self._pending.pop(command_id)
                answered.errback(QmpError(f"QMP {command}: {text}", error_class))
            case Refusal(None, _, text):
                self._finish(QmpMalformed(f"QEMU could not read a command: {text}"))
                self.close()
            # Anything else answers a command whose caller has given up.

    def _finish(self, end: HypervisorError) -> None:
        if self._end is not None:
            return
        self._end = end
        waiting: list[Deferred[Any]] = [answered for _, answered in self._pending.values()]
        waiting += [happened for _, _, happened in self._awaited]
        waiting += self._greeted
        gone = self._ended
        self._pending, self._awaited, self._greeted, self._ended = {}, [], [], []
        for deferred in waiting:
            deferred.errback(end)
        for deferred in gone:
            deferred.callback(None)

    def _limited(self, waiting: Deferred[T], timeout: float, what: str) -> Deferred[T]:
        def too_late(result: object, seconds: float) -> T:
            if isinstance(result, Failure) and result.check(CancelledError):
                raise QmpSilent(f"QMP {what}: nothing came within {seconds:g} s")
            return result  # type: ignore[return-value]  # an answer or failure that came just in time

        return waiting.addTimeout(timeout, self._clock, onTimeoutCancel=too_late)


ConnectQmp = Callable[[Path], Awaitable[QmpClient]]


@frozen
class UnixQmpConnector:
    """Connects to QMP sockets with the reactor that is given; both a clock and a maker of connections."""

    unix: IReactorUNIX
    clock: IReactorTime

    async def __call__(self, path: Path) -> QmpClient:
        """A client that is ready for commands. @raise QmpLost: nobody listens. @raise HypervisorError: nobody answers."""
        endpoint = UNIXClientEndpoint(self.unix, str(path), timeout=CONNECT_TIMEOUT)
        try:
            client: QmpClient = await endpoint.connect(QuietFactory.forProtocol(lambda: QmpClient(self.clock)))
        except ConnectError as error:
            if error.osError in NOBODY:
                raise QmpLost(f"cannot connect to QEMU at {path}: {os.strerror(error.osError)}") from None
            # The reactor tells no reason when as many wait already as QEMU lets wait.
            raise QmpSilent(
                f"QEMU takes no connection at {path}: it hangs, or others keep it busy; 'gnt-instance shutdown' ends it"
            ) from None
        ready = False
        try:
            await client.negotiate()
            ready = True
        finally:
            if not ready:
                client.close()
        return client
