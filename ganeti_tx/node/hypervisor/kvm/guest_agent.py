"""The agent inside a guest: asked to shut the guest down (QEMU guest agent protocol, lines of JSON over a socket)."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from attrs import frozen
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.internet.error import ConnectError
from twisted.internet.interfaces import IReactorTime, IReactorUNIX
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from ganeti_tx.node.hypervisor.kvm.quiet_factory import QuietFactory

CONNECT_LIMIT = 5.0
#: Seconds in which an agent that is there answers.
ANSWER_LIMIT = 3.0
#: Seconds in which a shutdown is refused, if it is.
REFUSAL_LIMIT = 0.5
#: Before the answer that counts; all else may be left from earlier talks.
MARK = b"\xff"
MAX_LINE = 64 * 1024
#: Any number: the answer has the same.
SYNC_ID = 20151


class _Talk(Protocol):
    """Hands out the lines that the agent says after the mark."""

    def __init__(self) -> None:
        self._said = b""
        self._marked = False
        self._waiting: Deferred[Any] | None = None

    def ask(self, command: str, mark: bool = False, **arguments: Any) -> Deferred[Any]:
        """What comes next, decoded; None when the connection ends or what comes is no JSON."""
        self._said, self._marked = b"", not mark
        self._waiting = Deferred()
        line = msgspec.json.encode({"execute": command, "arguments": arguments}) + b"\n"
        assert self.transport is not None
        self.transport.write((MARK if mark else b"") + line)
        return self._waiting

    def dataReceived(self, data: bytes) -> None:
        """The agent says something."""
        self._said += data
        if not self._marked and MARK in self._said:
            self._marked, self._said = True, self._said.rpartition(MARK)[2]
        if len(self._said) > MAX_LINE:
            self._answer(None)
        elif self._marked and b"\n" in self._said:
            self._answer(self._said.partition(b"\n")[0])

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """The guest has ended."""
        self._answer(None)

    def _answer(self, line: bytes | None) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            try:
                waiting.callback(None if line is None else msgspec.json.decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                waiting.callback(None)


#: Given the agent's socket, ask it to power its guest off; whether there is one that does it.
ShutDownByAgent = Callable[[Path], Awaitable[bool]]


@frozen
class UnixGuestAgents:
    """Talks to agents through sockets of the node."""

    unix: IReactorUNIX
    clock: IReactorTime

    async def __call__(self, path: Path) -> bool:
        """See `ShutDownByAgent`."""
        endpoint = UNIXClientEndpoint(self.unix, str(path), timeout=CONNECT_LIMIT)
        try:
            talk: _Talk = await endpoint.connect(QuietFactory.forProtocol(_Talk))
        except ConnectError:
            return False
        try:
            here = await self._within(talk.ask("guest-sync-delimited", mark=True, id=SYNC_ID), ANSWER_LIMIT)
            if not isinstance(here, dict) or here.get("return") != SYNC_ID:
                return False
            # An agent that obeys says nothing.
            refusal = await self._within(talk.ask("guest-shutdown", mode="powerdown"), REFUSAL_LIMIT)
            return not isinstance(refusal, dict) or "error" not in refusal
        finally:
            assert talk.transport is not None
            talk.transport.abortConnection()  # type: ignore[attr-defined]  # every stream transport has it

    async def _within(self, answer: Deferred[Any], limit: float) -> Any:
        """What comes in time, or None."""
        return await answer.addTimeout(limit, self.clock, onTimeoutCancel=lambda result, _: none_if_cancelled(result))


def none_if_cancelled(result: Any) -> Any:
    """Nothing for what was given up, itself for what came just in time."""
    return None if isinstance(result, Failure) and result.check(CancelledError) else result
