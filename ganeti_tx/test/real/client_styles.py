"""The three kinds of client of the Remote API, so that the same lines can be run with each."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, closing
from typing import Any

from twisted.internet import reactor as global_reactor
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread

from ganeti_tx.rapi_client import Client, on_asyncio, on_twisted
from ganeti_tx.rapi_client.server import Server

reactor: Any = global_reactor

#: Uses a client, whose methods are to be awaited whatever its kind.
Use = Callable[[Any], Coroutine[Any, Any, Any]]


class Awaited:
    """A client whose methods can be awaited, also where they block."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def events(self, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        """The events, whatever kind of iterator they come from."""
        events = self._client.events(*args, **kwargs)
        if hasattr(events, "aclose"):
            async with aclosing(events):
                async for event in events:
                    yield event
        else:
            with closing(events):
                for event in events:
                    yield event

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        method = getattr(self._client, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            return await result if inspect.isawaitable(result) else result

        return call


def blocking(server: Server, use: Use) -> Deferred[Any]:
    """With the client that blocks, in a thread."""

    def run() -> Any:
        with Client(server) as client:
            try:
                use(Awaited(client)).send(None)
            except StopIteration as end:
                return end.value
        raise AssertionError("a client that blocks waited")

    return deferToThread(run)


def with_asyncio(server: Server, use: Use) -> Deferred[Any]:
    """With the client on asyncio, on a loop of its own in a thread."""

    async def run() -> Any:
        client = on_asyncio.client(server)
        try:
            return await use(Awaited(client))
        finally:
            client.close()
            await asyncio.sleep(0)

    return deferToThread(lambda: asyncio.run(run()))


def with_twisted(server: Server, use: Use) -> Deferred[Any]:
    """With the client on Twisted."""

    async def run() -> Any:
        client = on_twisted.client(reactor, server)
        try:
            return await use(Awaited(client))
        finally:
            client.close()

    return Deferred.fromCoroutine(run())
