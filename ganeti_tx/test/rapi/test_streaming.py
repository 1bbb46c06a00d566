"""Answers that go on: no faster than they are read, and no longer than there is a reader."""

from collections.abc import AsyncIterator
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.channel import READ_LIMIT
from ganeti_tx.rapi.http.answers import Stream
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.test.rapi.requests import Connection, Rapi

GET = b"GET /2/x HTTP/1.1\r\nHost: x\r\n\r\n"


class StreamTests(SynchronousTestCase):
    """A stream of numbers, each when the test says so."""

    def setUp(self) -> None:
        self.next: Deferred[Any] = Deferred()
        self.made = 0
        self.closed = False

        async def start(call: Call) -> Stream:
            return Stream("text/plain", self.numbers())

        self.rapi = Rapi(operations=(Operation("GET", "/2/x", "x", frozenset(), start, "X", {}),))

    async def numbers(self) -> AsyncIterator[bytes]:
        """One after the other."""
        try:
            while True:
                self.made += 1
                yield b"%d\n" % self.made
                self.next = Deferred()
                await self.next
        finally:
            self.closed = True

    def begun(self, request: bytes = GET) -> Connection:
        """A reader."""
        connection = self.rapi.connect()
        connection.channel.dataReceived(request)
        self.addCleanup(self.leave, connection)
        return connection

    def leave(self, connection: Connection) -> None:
        """The reader hangs up, if the test has not made him."""
        if not self.closed:
            connection.lose()

    def test_pieces(self) -> None:
        """Each piece is sent when it is there; caches keep none of it."""
        connection = self.begun()
        [answer] = connection.answers()
        self.assertEqual((answer.status, answer.body, answer.headers["cache-control"]), (200, b"1\n", "no-store"))
        self.next.callback(None)
        self.assertEqual(connection.transport.value(), b"2\r\n2\n\r\n")

    def test_slow_reader(self) -> None:
        """While the reader takes nothing, nothing more is made."""
        connection = self.begun()
        connection.channel.pauseProducing()
        for _ in range(3):
            if not self.next.called:
                self.next.callback(None)
        self.assertEqual(self.made, 2)
        connection.channel.resumeProducing()
        self.assertEqual(self.made, 2)
        self.next.callback(None)
        self.assertEqual(self.made, 3)

    def test_gone(self) -> None:
        """When the reader has gone, so has the stream."""
        connection = self.begun()
        connection.lose()
        self.assertTrue(self.closed)
        self.assertEqual(self.flushLoggedErrors(), [])

    def test_broken(self) -> None:
        """A stream that fails does not end as if it were whole."""
        connection = self.begun()
        self.next.errback(KeyError("x"))
        self.assertTrue(connection.transport.disconnected)
        self.assertEqual([answer.body for answer in connection.answers()], [b"1\n"])
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)

    def test_dropped(self) -> None:
        """Who takes nothing for long is dropped."""
        connection = self.begun()
        connection.channel.pauseProducing()
        self.rapi.clock.pump([1] * int(READ_LIMIT + 3))
        self.assertTrue(connection.transport.disconnected)
        connection.lose()
        self.assertTrue(self.closed)

    def test_http_10(self) -> None:
        """HTTP/1.0 knows no chunks: the end of the connection is the end of the answer."""
        connection = self.begun(b"GET /2/x HTTP/1.0\r\n\r\n")
        self.assertTrue(connection.transport.value().endswith(b"\r\n\r\n1\n"))
