"""Programs run on a machine of the lab, for tests that wait: many at a time, each can be cancelled."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import ProcessEndpoint
from twisted.internet.interfaces import IReactorProcess
from twisted.internet.protocol import Factory, connectionDone
from twisted.protocols.basic import Int32StringReceiver
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.runtime.process import (
    CLEAN_ENV,
    DEFAULT_OUTPUT_LIMIT,
    DEFAULT_TIMEOUT,
    IProcessRunner,
    ProcessResult,
)
from ganeti_tx.test.lab.messages import LONGEST, UNREACHABLE, Cancel, Ended, Request, Run, answer, encoded


class Connection(Int32StringReceiver):
    """To one agent, until it is lost."""

    MAX_LENGTH = LONGEST

    def __init__(self, ended: Callable[[Ended], None], lost: Callable[[], None]) -> None:
        self._ended = ended
        self._lost = lost

    def stringReceived(self, string: bytes) -> None:
        """A program has ended."""
        told = answer(string)
        assert isinstance(told, Ended)  # the others answer what is not asked here
        self._ended(told)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """The machine, or the way to it, has gone."""
        self._lost()


@implementer(IProcessRunner)
@define(eq=False)
class RemoteRunner:
    """Programs on the machine called `name`; `to_agent` is the command that connects to its agent.

    A machine that cannot be reached gives status 255, also to what was running; the next program is tried again.
    """

    _reactor: IReactorProcess
    _to_agent: Callable[[], Sequence[str]]
    _name: str
    _calls: "count[int]" = field(factory=count)
    _running: dict[int, Deferred[ProcessResult]] = field(factory=dict)
    _unsent: list[bytes] = field(factory=list)
    _connection: Connection | None = None
    _connecting: bool = False
    _closed: Deferred[None] | None = None

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] = CLEAN_ENV,
        cwd: Path | None = None,
        stdin: bytes = b"",
        timeout: float = DEFAULT_TIMEOUT,
        output_limit: int = DEFAULT_OUTPUT_LIMIT,
        child_fds: Mapping[int, int] | None = None,
    ) -> Deferred[ProcessResult]:
        """See `IProcessRunner`. @raise ValueError: descriptors were given."""
        if child_fds:
            raise ValueError("descriptors do not travel to another machine")
        call = next(self._calls)
        ended = self._running[call] = Deferred(lambda _ended: self._cancel(call))
        place = str(cwd) if cwd is not None else None
        self._say(Run(call, list(argv), dict(env), place, stdin, timeout, output_limit))
        return ended

    def run_detached(
        self, argv: Sequence[str], *, log: Path, env: Mapping[str, str] = CLEAN_ENV, cwd: Path | None = None
    ) -> int:
        """@raise NotImplementedError: a process id cannot be had without waiting; `BlockingRunner` does that."""
        raise NotImplementedError("who does not wait cannot be told the process id of a program on another machine")

    def close(self) -> Deferred[None]:
        """End the connection and what runs; fires when that is done."""
        closed = self._closed = Deferred()
        if self._connection is None:
            closed.callback(None)
        else:
            assert self._connection.transport is not None
            self._connection.transport.loseConnection()
        return closed

    def _say(self, wanted: Request) -> None:
        self._unsent.append(encoded(wanted))
        if self._connection is not None:
            self._flush(self._connection)
        elif not self._connecting:
            self._connecting = True
            self._connect()

    def _connect(self) -> None:
        words = list(self._to_agent())
        endpoint = ProcessEndpoint(self._reactor, words[0], words, env=dict(CLEAN_ENV))
        connecting = endpoint.connect(Factory.forProtocol(lambda: Connection(self._ended, self._lost)))
        connecting.addCallbacks(self._connected, lambda _failed: self._lost())

    def _connected(self, connection: Connection) -> None:
        self._connecting = False
        self._connection = connection
        self._flush(connection)

    def _flush(self, connection: Connection) -> None:
        unsent, self._unsent = self._unsent, []
        for each in unsent:
            connection.sendString(each)

    def _ended(self, told: Ended) -> None:
        if (ended := self._running.pop(told.call, None)) is not None:
            ended.callback(told.result)

    def _cancel(self, call: int) -> None:
        if self._running.pop(call, None) is not None:
            self._say(Cancel(call))

    def _lost(self) -> None:
        self._connection, self._connecting = None, False
        running, self._running, self._unsent = self._running, {}, []
        for ended in running.values():
            ended.callback(ProcessResult(status=UNREACHABLE, stderr=f"{self._name}: the connection was lost".encode()))
        if self._closed is not None and not self._closed.called:
            self._closed.callback(None)
