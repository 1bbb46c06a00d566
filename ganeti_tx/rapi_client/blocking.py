"""The client that blocks, on the standard library's sockets and TLS."""

import select
import socket
import ssl
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from types import TracebackType
from typing import Any, Self, TypeVar

from ganeti_tx.rapi_client.cache import Cache
from ganeti_tx.rapi_client.call import Blocking
from ganeti_tx.rapi_client.calls import Calls
from ganeti_tx.rapi_client.connect_errors import connect_error, lost, silent
from ganeti_tx.rapi_client.course import course
from ganeti_tx.rapi_client.errors import ClientError, NoAnswerError
from ganeti_tx.rapi_client.following import Following, Happened
from ganeti_tx.rapi_client.http1 import request_bytes
from ganeti_tx.rapi_client.message import Action, Message, Pause, Reply, Step
from ganeti_tx.rapi_client.parts import StreamedReply
from ganeti_tx.rapi_client.reading import WholeReply
from ganeti_tx.rapi_client.server import Server
from ganeti_tx.rapi_client.trust import check_pin, ssl_context

T = TypeVar("T")

_CHUNK = 64 * 1024
#: Connections kept for later calls.
_KEPT = 4


class Client(Calls, Blocking):
    """Calls of several threads may overlap; each has a connection for itself, which is kept for the next one."""

    def __init__(self, server: Server) -> None:
        """@raise X509CertError: the trusted certificates cannot be read."""
        self._server = server
        self._tls = ssl_context(server.trust)
        self._cache = Cache(server.cache_size)
        self._resting: list[ssl.SSLSocket] = []
        self._closed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, those under way when they are answered; the next call opens another."""
        self._closed += 1
        while (connection := self._rested()) is not None:
            connection.close()

    def do(self, action: Action[T]) -> T:
        """Carry an action out.

        @raise RapiError: the server answered with an error.
        @raise ClientError: there was no answer that can be read.
        """
        steps = course(action, self._cache, self._server.retries)
        try:
            step = next(steps)
            while True:
                try:
                    came = self._take(step)
                except NoAnswerError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(came)
        except StopIteration as end:
            result: T = end.value
            return result

    def events(
        self, after: str | None = None, *, kinds: Sequence[str] = (), objects: Sequence[str] = ()
    ) -> Generator[Happened, None, None]:
        """What happens in the cluster, without end; over a connection of its own, made again when it is lost.

        @param after: the id of the last event that is known, or UNKNOWN; without it from whenever the connection is made.
        @param kinds: only these, such as "job"; all without.
        @param objects: only events about these: names, UUIDs, job ids; all without.
        @raise ClientError: the server refuses, or cannot be reached again for some minutes.
        """
        following = Following(after, kinds, objects)
        while True:
            try:
                for data in self._stream(following.message):
                    yield from following.received(data)
                following.lost()
            except ClientError as error:
                following.lost(error)
            time.sleep(following.pause)

    def _take(self, step: Step) -> Any:
        match step:
            case Message():
                return self._exchange(step)
            case Pause(seconds):
                return time.sleep(seconds)
        return time.monotonic()

    def _exchange(self, message: Message) -> Reply:
        data = request_bytes(self._server, message)
        whole = WholeReply(self._server.largest_answer)
        closed = self._closed
        connection = self._open()
        try:
            self._talk(connection, data, whole)
        except BaseException:
            connection.close()  # the rest of this answer may still come, which no later call may take for its own
            raise
        if whole.response.reusable and closed == self._closed and len(self._resting) < _KEPT:
            self._resting.append(connection)
        else:
            connection.close()
        return whole.reply

    def _talk(self, connection: ssl.SSLSocket, data: bytes, whole: WholeReply) -> None:
        deadline = time.monotonic() + self._server.answer_timeout
        try:
            _send(connection, data, deadline)
            while not whole.feed(_receive(connection, deadline)):
                continue
        except TimeoutError:
            raise silent(self._server, self._server.answer_timeout) from None
        except OSError as error:
            raise lost(self._server, error) from None

    def _stream(self, message: Message) -> Iterator[bytes]:
        """The body of a response as it comes, over a connection of its own. @raise ClientError"""
        limit = self._server.silence_timeout
        with closing(self._connect()) as connection:
            streamed = StreamedReply()
            try:
                _send(connection, request_bytes(self._server, message), time.monotonic() + limit)
                while not streamed.response.ended:
                    yield streamed.feed(_receive(connection, time.monotonic() + limit))
            except TimeoutError:
                raise silent(self._server, limit) from None
            except OSError as error:
                raise lost(self._server, error) from None

    def _open(self) -> ssl.SSLSocket:
        while (connection := self._rested()) is not None:
            if not _hung_up(connection):
                return connection
            connection.close()
        return self._connect()

    def _rested(self) -> ssl.SSLSocket | None:
        try:
            return self._resting.pop()
        except IndexError:
            return None

    def _connect(self) -> ssl.SSLSocket:
        server = self._server
        try:
            plain = socket.create_connection((server.host, server.port), server.connect_timeout)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with_tls = self._tls.wrap_socket(plain, server_hostname=server.verified_name)
        except OSError as error:
            raise connect_error(server, error) from None
        try:
            check_pin(server.trust, with_tls.getpeercert(binary_form=True))
        except BaseException:
            with_tls.close()
            raise
        return with_tls


def _send(connection: ssl.SSLSocket, data: bytes, deadline: float) -> None:
    connection.settimeout(max(deadline - time.monotonic(), 0.001))
    connection.sendall(data)


def _receive(connection: ssl.SSLSocket, deadline: float) -> bytes:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    connection.settimeout(left)
    return connection.recv(_CHUNK)


def _hung_up(connection: ssl.SSLSocket) -> bool:
    """Whether the server has closed the connection, or sent what nobody asked for, since the last call."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))
