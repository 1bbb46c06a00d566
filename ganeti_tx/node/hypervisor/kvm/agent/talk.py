"""Talks with the agent inside a guest (QEMU guest agent protocol, lines of JSON over a socket), one at a time for each guest.

The guest may be anybody's: what it says is limited in size and time, and nothing of it is believed before it was looked at.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred, DeferredLock
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.internet.error import ConnectError
from twisted.internet.interfaces import IReactorTime, IReactorUNIX
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.printable import printable
from ganeti_tx.node.hypervisor.kvm.quiet_factory import QuietFactory

CONNECT_LIMIT = 5.0
#: Seconds in which an agent that is there answers.
ANSWER_LIMIT = 3.0
#: Before the answer that counts; all else may be left from earlier talks.
MARK = b"\xff"
#: Bytes of one answer; a guest with a thousand interfaces stays below.
MAX_LINE = 1 << 20
#: Of what an agent says of its errors, so much is told.
MAX_REASON = 200
#: Any number: the answer has the same.
SYNC_ID = 20151


class AgentSilent(HypervisorError):
    """No agent answered, or what it said is no answer."""


class AgentRefusal(HypervisorError):
    """The agent says that it does not do it."""


class _Lines(Protocol):
    """Hands out the lines that the agent says after the mark."""

    def __init__(self) -> None:
        self._said = bytearray()
        self._marked = False
        self._waiting: Deferred[Any] | None = None

    def ask(self, command: str, mark: bool, arguments: dict[str, Any]) -> Deferred[Any]:
        """What comes next, decoded; None when the connection ends, or what comes is no JSON, or too much."""
        self._said, self._marked = bytearray(), not mark
        waiting: Deferred[Any] = Deferred()
        self._waiting = waiting
        line = msgspec.json.encode({"execute": command, "arguments": arguments}) + b"\n"
        assert self.transport is not None
        self.transport.write((MARK if mark else b"") + line)
        return waiting

    def dataReceived(self, data: bytes) -> None:
        """The agent says something."""
        if self._waiting is None:
            return
        if not self._marked and MARK in data:
            self._marked, self._said, data = True, bytearray(), data.rpartition(MARK)[2]
        self._said += data
        if len(self._said) > MAX_LINE:
            self._answer(None)
        elif self._marked and b"\n" in data:
            self._answer(bytes(self._said.partition(b"\n")[0]))

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


@define
class Talk:
    """One talk with an agent that is there."""

    clock: IReactorTime
    lines: _Lines

    async def ask(self, command: str, limit: float = ANSWER_LIMIT, **arguments: Any) -> Any:
        """What the agent gives back, of any type.

        @raise AgentSilent: nothing in so many seconds, or nothing that is an answer.
        @raise AgentRefusal: what it says against it.
        """
        match await self.within(self.lines.ask(command, False, arguments), limit):
            case {"return": value}:
                return value
            case {"error": {"desc": str(text)}}:
                raise AgentRefusal(f"its agent refuses {command}: {one_readable_line(text)}")
        raise AgentSilent(f"its agent does not answer {command}")

    async def synchronise(self) -> None:
        """@raise AgentSilent: nobody is there."""
        here = await self.within(self.lines.ask("guest-sync-delimited", True, {"id": SYNC_ID}), ANSWER_LIMIT)
        if not isinstance(here, dict) or here.get("return") != SYNC_ID:
            raise AgentSilent("no agent in it answers; qemu-guest-agent must be installed in it and run")

    async def within(self, answer: Deferred[Any], limit: float) -> Any:
        """What comes in time, or None."""
        return await answer.addTimeout(limit, self.clock, onTimeoutCancel=lambda result, _: none_if_cancelled(result))


@define
class GuestAgents:
    """Through sockets of the node. QEMU serves one client of a socket at a time, so callers take turns."""

    unix: IReactorUNIX
    clock: IReactorTime
    _turns: dict[Path, DeferredLock] = field(factory=dict, init=False)

    @asynccontextmanager
    async def talk(self, path: Path) -> AsyncIterator[Talk]:
        """A talk with the agent behind a socket, which has answered once. @raise AgentSilent: there is none."""
        turn = self._turns.setdefault(path, DeferredLock())
        await turn.acquire()
        try:
            endpoint = UNIXClientEndpoint(self.unix, str(path), timeout=CONNECT_LIMIT)
            try:
                lines: _Lines = await endpoint.connect(QuietFactory.forProtocol(_Lines))
            except ConnectError:
                raise AgentSilent("the socket of its agent is not there") from None
            try:
                talk = Talk(self.clock, lines)
                await talk.synchronise()
                yield talk
            finally:
                assert lines.transport is not None
                lines.transport.abortConnection()  # type: ignore[attr-defined]  # every stream transport has it
        finally:
            turn.release()
            if not turn.locked and self._turns.get(path) is turn:
                del self._turns[path]


def none_if_cancelled(result: Any) -> Any:
    """Nothing for what was given up, itself for what came just in time."""
    return None if isinstance(result, Failure) and result.check(CancelledError) else result


def one_readable_line(text: str) -> str:
    """What a guest said, without what would command a terminal or go on for long."""
    return " ".join(printable(text, MAX_REASON).split())
