"""Questions to LUXI and their answers as bytes; equal questions share an answer."""

from collections.abc import Callable
from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from ganeti_tx.luxi.answers import result_of
from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.framing import Message, frame
from ganeti_tx.luxi.messages import CLIENT_VERSION, Request, encode_request
from ganeti_tx.luxi.method_table import Effect
from ganeti_tx.luxi.methods import LIVE_RESOURCES
from ganeti_tx.luxi.own_methods import ALL_METHODS
from ganeti_tx.luxi.transport_errors import ConnectionClosedError

#: Connections, each with one question at a time; those that are not needed are not opened.
LANES = 32
#: The same for questions that reach nodes; all together stay below what the master daemon gives one process.
LANES_TO_NODES = 64


class Response(msgspec.Struct):
    """An answer, as far as it has to be looked at when it is a good one."""

    success: bool
    result: Any


_decoder = msgspec.json.Decoder(Response)


def only_reads(method: str) -> bool:
    """Whether a method is a question: its answer tells what is there now, and comes at once."""
    return ALL_METHODS[method].effect is Effect.TELLS


def question(method: str, args: list[Any]) -> bytes:
    """A request as it is sent."""
    return frame(encode_request(Request(method, args, CLIENT_VERSION)))


#: How questions begin whose answers may take as long as the slowest node does.
TO_NODES = tuple(
    question(method, args).partition(b"]")[0]
    for method, args in (
        *((method.name, []) for method in ALL_METHODS if method.asks_nodes),
        *(("Query", [resource]) for resource in LIVE_RESOURCES),
    )
)


def reaches_nodes(message: bytes) -> bool:
    """Whether nodes may be asked for the answer to a `question`."""
    return message.startswith(TO_NODES)


def unread(message: Message) -> bytes:
    """An answer as it came."""
    return bytes(message)


def result(answer: bytes) -> Any:
    """As result_of says, only faster for what succeeded."""
    try:
        response = _decoder.decode(answer)
    except (msgspec.DecodeError, RecursionError):
        return result_of(answer)
    return response.result if response.success else result_of(answer)


class SharedQuestions:
    """Asks a question once for all who asked it before it was sent; nobody gets an answer older than his question.

    While it is under way those who ask the same wait for the next answer, all for one.
    """

    def __init__(self, make_client: Callable[[], AsyncClient], lanes: int = LANES) -> None:
        """@param make_client: gives clients whose answers are `unread`."""
        self._clients = [make_client() for _ in range(lanes)]
        self._free = list(self._clients)
        self._under_way: set[bytes] = set()
        self._waiting: dict[bytes, list[Deferred[bytes]]] = {}

    async def ask(self, message: bytes) -> bytes:
        """The answer to a `question`. @raise GanetiError: none could be had."""
        waiting: Deferred[bytes] = Deferred(lambda _: self._leave(message, waiting))
        self._waiting.setdefault(message, []).append(waiting)
        self._send()
        return await waiting

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            client.close()

    def _leave(self, message: bytes, waiting: "Deferred[bytes]") -> None:
        those = self._waiting.get(message, [])
        if waiting in those:
            those.remove(waiting)
            if not those:
                del self._waiting[message]

    def _send(self) -> None:
        while self._free:
            message = next((each for each in self._waiting if each not in self._under_way), None)
            if message is None:
                return
            client = self._free.pop()
            self._under_way.add(message)
            asked = Deferred.fromCoroutine(answer_of(client, message))
            asked.addBoth(self._answered, client, message, self._waiting.pop(message))

    def _answered(
        self, answer: bytes | Failure, client: AsyncClient, message: bytes, askers: "list[Deferred[bytes]]"
    ) -> None:
        self._under_way.discard(message)
        self._free.append(client)
        self._send()
        for asker in askers:
            if not asker.called:
                asker.callback(answer)  # a Failure takes the error path by itself


async def answer_of(client: AsyncClient, message: bytes) -> bytes:
    """Ask; once more if the connection turns out to have been closed, as masters do with those that rest."""
    try:
        answer: bytes = await client.send(message)
    except ConnectionClosedError:
        answer = await client.send(message)
    return answer
