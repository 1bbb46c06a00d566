"""The client for programs that wait without blocking; `on_twisted.client` and `on_asyncio.client` make one."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from ganeti_tx.rapi_client.cache import Cache
from ganeti_tx.rapi_client.call import Waiting
from ganeti_tx.rapi_client.calls import Calls
from ganeti_tx.rapi_client.conversation import Conversation
from ganeti_tx.rapi_client.course import course
from ganeti_tx.rapi_client.errors import ClientError, NoAnswerError
from ganeti_tx.rapi_client.following import Following, Happened
from ganeti_tx.rapi_client.message import Action, Message, Pause, Reply, Step
from ganeti_tx.rapi_client.server import Server

T = TypeVar("T")

#: Connections kept for later calls.
_KEPT = 4


class Framework(NamedTuple):
    """What is needed of Twisted or asyncio."""

    #: Opens a connection. @raise NoAnswerError
    connect: Callable[[], Awaitable[Conversation]]
    #: Waits for so many seconds.
    sleep: Callable[[float], Awaitable[Any]]
    #: Seconds of a clock that only goes forward.
    now: Callable[[], float]


class AsyncClient(Calls, Waiting):
    """Calls may overlap; each has a connection for itself, which is kept for the next one."""

    def __init__(self, server: Server, framework: Framework) -> None:
        self._server = server
        self._framework = framework
        self._cache = Cache(server.cache_size)
        self._resting: list[Conversation] = []
        self._closed = 0

    async def do(self, action: Action[T]) -> T:
        """Carry an action out; cancelling stops the waiting, not what the server has begun.

        @raise RapiError: the server answered with an error.
        @raise ClientError: there was no answer that can be read.
        """
        steps = course(action, self._cache, self._server.retries)
        try:
            step = next(steps)
            while True:
                try:
                    came = await self._take(step)
                except NoAnswerError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(came)
        except StopIteration as end:
            result: T = end.value
            return result

    async def events(
        self, after: str | None = None, *, kinds: Sequence[str] = (), objects: Sequence[str] = ()
    ) -> AsyncGenerator[Happened, None]:
        """What happens in the cluster, without end; over a connection of its own, made again when it is lost.

        Leave it with `contextlib.aclosing`, so that the connection ends at once.

        @param after: the id of the last event that is known, or UNKNOWN; without it from whenever the connection is made.
        @param kinds: only these, such as "job"; all without.
        @param objects: only events about these: names, UUIDs, job ids; all without.
        @raise ClientError: the server refuses, or cannot be reached again for some minutes.
        """
        following = Following(after, kinds, objects)
        while True:
            conversation = None
            try:
                conversation = await self._framework.connect()
                parts = conversation.follow(following.message)
                while (data := await parts.next()) is not None:
                    for happened in following.received(data):
                        yield happened
                following.lost()
            except ClientError as error:
                following.lost(error)
            finally:
                if conversation is not None:
                    conversation.end(NoAnswerError("nobody listens any more"))
            await self._framework.sleep(following.pause)

    def close(self) -> None:
        """Close the connections, those under way when they are answered; the next call opens another."""
        self._closed += 1
        while self._resting:
            self._resting.pop().end(NoAnswerError("The client was closed"))

    async def _take(self, step: Step) -> Any:
        match step:
            case Message():
                return await self._exchange(step)
            case Pause(seconds):
                return await self._framework.sleep(seconds)
        return self._framework.now()

    async def _exchange(self, message: Message) -> Reply:
        closed = self._closed
        conversation = await self._conversation()
        try:
            reply: Reply = await conversation.ask(message)
        except BaseException:
            conversation.end(NoAnswerError("nobody waits for the answer any more"))
            raise
        if conversation.open and closed == self._closed and len(self._resting) < _KEPT:
            self._resting.append(conversation)
        else:
            conversation.end(NoAnswerError("not needed"))
        return reply

    async def _conversation(self) -> Conversation:
        while self._resting:
            conversation = self._resting.pop()
            if conversation.usable:
                return conversation
            conversation.end(NoAnswerError("of another event loop"))
        return await self._framework.connect()
