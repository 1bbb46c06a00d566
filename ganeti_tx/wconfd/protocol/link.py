"""A job's line to WConfD: opened when needed, opened again when WConfD restarts, honest about what is not known."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import attrs
import msgspec
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.config.call import Call, Repeat
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.luxi.async_client import Connect
from ganeti_tx.luxi.conversation import Conversation
from ganeti_tx.luxi.framing import frame
from ganeti_tx.luxi.messages import CLIENT_VERSION, Request, encode_request
from ganeti_tx.luxi.transport_errors import ConnectionClosedError, PermissionError, ProtocolError

P = ParamSpec("P")
R = TypeVar("R")

#: For so many seconds WConfD may be away before a request fails.
TIMEOUT = 60.0
#: Seconds between tries to reach it.
RETRY_INTERVAL = 0.25


@attrs.define(eq=False, kw_only=True)
class Link:
    """Short requests share one connection; each request that waits has its own, so that others go on meanwhile."""

    _connect: Connect
    _connect_to_wait: Connect
    _clock: IReactorTime
    _timeout: float = TIMEOUT
    _shared: Conversation | None = attrs.field(default=None, init=False)
    _last_number: int = attrs.field(default=0, init=False)

    def next_number(self) -> int:
        """Numbers for requests whose order matters: they may go over several connections and overtake one another."""
        self._last_number += 1
        return self._last_number

    async def ask(self, call: Call[P, R], owner: Owner, *args: P.args, **named: P.kwargs) -> R:
        """Send a short request over the shared connection.

        @raise ConfigurationError: WConfD stays away, or went away and it is not known whether a change was made.
        @raise GanetiError: WConfD's own.
        """
        message = encoded(call, owner, call.given(*args, **named))
        giving_up = self._clock.seconds() + self._timeout
        while True:
            conversation = await self._share(giving_up)
            try:
                return answer(call, await conversation.ask(message))
            except ConnectionClosedError:
                self._lost(call)
            await deferLater(self._clock, RETRY_INTERVAL)

    async def wait(self, call: Call[..., R], owner: Owner, args: Callable[[float], tuple[object, ...]]) -> R:
        """Send a request that may take long, over a connection of its own; cancelling hangs up.

        @param args: makes the arguments for each try; it is told how many seconds have passed since the first.

        @raise ConfigurationError, GanetiError: as `ask`.
        """
        begun = self._clock.seconds()
        while True:
            conversation = await self._reach(self._connect_to_wait, self._clock.seconds() + self._timeout)
            message = encoded(call, owner, args(self._clock.seconds() - begun))
            alive = True
            try:
                return answer(call, await conversation.ask(message))
            except ConnectionClosedError:
                self._lost(call)
            except GeneratorExit:  # this was thrown away unfinished: to answer it now would resume it in its own end
                alive = False
                raise
            finally:
                if alive:
                    conversation.end(ConnectionClosedError("not needed any more"))
            await deferLater(self._clock, RETRY_INTERVAL)

    def close(self) -> None:
        """Hang up; what is under way fails."""
        if self._shared is not None:
            self._shared.end(ConnectionClosedError("closed"))
            self._shared = None

    async def _share(self, giving_up: float) -> Conversation:
        """The connection for short requests; of several that were opened at a time the first stays."""
        if self._shared is None or not self._shared.open:
            fresh = await self._reach(self._connect, giving_up)
            if self._shared is None or not self._shared.open:
                self._shared = fresh
            else:
                fresh.end(ConnectionClosedError("not needed any more"))
        return self._shared

    async def _reach(self, connect: Connect, giving_up: float) -> Conversation:
        """A new connection. @raise ConfigurationError: none could be had until then."""
        while True:
            try:
                return await connect()
            except PermissionError as error:
                raise ConfigurationError(str(error)) from None
            except ProtocolError as error:
                if self._clock.seconds() >= giving_up:
                    raise ConfigurationError(f"{error}; waited {self._timeout:g} seconds for it") from None
            await deferLater(self._clock, RETRY_INTERVAL)

    def _lost(self, call: Call[..., Any]) -> None:
        """Go on if the request may be sent again. @raise ConfigurationError: it may not."""
        if call.repeat is not Repeat.SAFE:
            raise ConfigurationError(
                f"the connection to WConfD was lost during {call.name}: whether the change was made is not known; "
                "look at the configuration before you repeat it"
            )


def encoded(call: Call[..., Any], owner: Owner, args: tuple[object, ...]) -> bytes:
    """A request as it is sent."""
    plain = msgspec.to_builtins([(owner.job_id, owner.livelock), *args])
    return frame(encode_request(Request(call.name, plain, CLIENT_VERSION)))


def answer(call: Call[..., R], result: object) -> R:
    """The result in its type. @raise ConfigurationError: it has another; the two ends are of different versions."""
    try:
        return msgspec.convert(result, call.result)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"WConfD answered {call.name} with something unexpected: {error}") from None
