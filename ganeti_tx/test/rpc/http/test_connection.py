"""One connection to a node, with the node's bytes written by hand."""

import socket
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rpc.http.answer import Answer
from ganeti_tx.rpc.http.connection import ARRIVAL_LIMIT, SMALL, NodeConnection
from ganeti_tx.rpc.http.errors import AnswerTooLong, BadAnswer

HEAD = b"POST /version HTTP/1.1\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LIMIT = 100


class NodesSocket(StringTransport):
    """A transport with a socket of its own; it wants no more while it is told so."""

    def __init__(self) -> None:
        super().__init__()
        self.socket = socket.socket()
        self.keep_alive = False
        self.full = False
        self.aborted = False

    def abortConnection(self) -> None:
        """As ITCPTransport says."""
        self.aborted = True

    def setTcpKeepAlive(self, enabled: bool) -> None:
        """As ITCPTransport says."""
        self.keep_alive = enabled

    def write(self, data: bytes) -> None:
        """A full one asks its producer to wait."""
        super().write(data)
        if self.full and self.producer is not None:
            self.producer.pauseProducing()


class ConnectionTests(SynchronousTestCase):
    """Requests and their answers."""

    def setUp(self) -> None:
        self.transport = NodesSocket()
        self.addCleanup(self.transport.socket.close)
        self.clock = Clock()
        self.unused = self.lost = 0
        self.connection = NodeConnection(self.is_unused, self.is_lost, self.clock)
        self.connection.makeConnection(self.transport)

    def is_unused(self, connection: NodeConnection) -> None:
        """Another request may be made."""
        self.assertIs(connection, self.connection)
        self.unused += 1

    def is_lost(self, connection: NodeConnection) -> None:
        """None can be made any more."""
        self.lost += 1

    def tearDown(self) -> None:
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def ask(self, body: bytes = b"body") -> "Deferred[Answer]":
        """A request goes out."""
        return self.connection.ask(HEAD, body, LIMIT)

    def goes(self, reason: type[Exception] = ConnectionDone) -> None:
        """The node hangs up."""
        self.connection.connectionLost(Failure(reason()))

    def test_watched(self) -> None:
        """The kernel finds out that the other end is gone."""
        self.assertTrue(self.transport.keep_alive)
        option = self.transport.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        self.assertEqual(option, ARRIVAL_LIMIT)

    def test_one_after_the_other(self) -> None:
        """Each request has its answer, and the connection is there for the next."""
        for number in (1, 2, 3):
            self.transport.clear()
            asking = self.ask()
            self.assertEqual(self.transport.value(), HEAD + b"body")
            self.assertEqual(self.unused, number - 1)
            self.connection.dataReceived(ANSWER)
            self.assertEqual(self.successResultOf(asking), Answer(200, b"ok"))
            self.assertEqual(self.unused, number)
        self.assertFalse(self.transport.disconnecting)

    def test_next_at_once(self) -> None:
        """Who has an answer may ask again within the same turn."""
        again: list[Deferred[Answer]] = []
        self.ask().addCallback(lambda _: again.append(self.ask()))
        self.connection.dataReceived(ANSWER)
        self.connection.dataReceived(ANSWER)
        self.assertEqual(self.successResultOf(again[0]), Answer(200, b"ok"))

    def test_slow(self) -> None:
        """A node may take its time for every byte."""
        asking = self.ask()
        for at in range(len(ANSWER)):
            self.assertNoResult(asking)
            self.connection.dataReceived(ANSWER[at : at + 1])
        self.successResultOf(asking)

    def refused(self, data: bytes, kind: type[Exception]) -> None:
        """These bytes are no answer: the caller hears of it once, and the connection is gone."""
        asking = self.ask()
        self.connection.dataReceived(data)
        self.failureResultOf(asking, kind)
        self.assertTrue(self.transport.aborted)
        self.connection.dataReceived(ANSWER)
        self.goes()
        self.assertEqual((self.unused, self.lost), (0, 1))

    def test_garbage(self) -> None:
        """What is no HTTP ends the connection."""
        self.refused(b"\x15\x03\x01 some other protocol", BadAnswer)

    def test_too_large(self) -> None:
        """So does an answer that says that it is longer than the call admits."""
        self.refused(b"HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", AnswerTooLong)

    def test_too_large_without_saying_so(self) -> None:
        """And one that does not end."""
        self.refused(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 101, AnswerTooLong)

    def test_cut_off(self) -> None:
        """An answer of which the end does not come is none, wherever it is cut, and however politely."""
        for at in (0, 5, len(ANSWER) - 1):
            for reason in (ConnectionDone, ConnectionLost):
                self.setUp()
                asking = self.ask()
                self.connection.dataReceived(ANSWER[:at])
                self.goes(reason)
                self.failureResultOf(asking, reason)
                self.assertEqual((self.unused, self.lost), (0, 1))

    def test_no_length(self) -> None:
        """Nobody knows of a body that goes on to the end of the connection whether it is whole."""
        asking = self.ask()
        self.connection.dataReceived(b"HTTP/1.1 200 OK\r\n\r\nok")
        self.goes()
        self.failureResultOf(asking, ConnectionDone)

    def test_lost_while_unused(self) -> None:
        """A node that closes a connection nobody uses disturbs nobody."""
        asking = self.ask()
        self.connection.dataReceived(ANSWER)
        self.successResultOf(asking)
        self.goes()
        self.assertEqual(self.lost, 1)

    def test_unasked(self) -> None:
        """A connection on which a node speaks unasked is not used again."""
        self.connection.dataReceived(ANSWER)
        self.assertTrue(self.transport.aborted)
        self.assertEqual(self.unused, 0)

    def test_more_than_asked_for(self) -> None:
        """Nor is one on which an answer has something behind it: the next call would take that for its own."""
        asking = self.ask()
        self.connection.dataReceived(ANSWER + ANSWER)
        self.successResultOf(asking)
        self.assertTrue(self.transport.aborted)
        self.assertEqual(self.unused, 0)

    def test_cancelled(self) -> None:
        """Who cancels hangs up, and hears nothing more of it."""
        for before in (b"", ANSWER[:-1]):
            self.setUp()
            asking = self.ask()
            self.connection.dataReceived(before)
            asking.cancel()
            self.failureResultOf(asking, CancelledError)
            self.assertTrue(self.transport.aborted)
            self.connection.dataReceived(ANSWER)
            self.goes()
            self.assertEqual((self.unused, self.lost), (0, 1))


class LongBodyTests(ConnectionTests):
    """The same connection, and bodies that are not sent in one piece."""

    BODY = bytes(range(256)) * 1024
    assert len(BODY) > 3 * SMALL

    def ask(self, body: bytes = BODY) -> "Deferred[Answer]":
        """A long request goes out."""
        return super().ask(body)

    def test_one_after_the_other(self) -> None:
        """It arrives whole, and the connection is there for the next."""
        for number in (1, 2):
            self.transport.clear()
            asking = self.ask()
            self.assertEqual(self.transport.value(), HEAD + self.BODY)
            self.assertIsNone(self.transport.producer)
            self.connection.dataReceived(ANSWER)
            self.successResultOf(asking)
            self.assertEqual(self.unused, number)

    def test_slowly_taken(self) -> None:
        """As much goes out as is taken."""
        self.transport.full = True
        asking = self.ask()
        producer: Any = self.transport.producer
        sent = len(HEAD)
        while self.transport.producer is not None:
            self.assertLessEqual(len(self.transport.value()), sent + SMALL)
            sent = len(self.transport.value())
            producer.resumeProducing()
        self.assertEqual(self.transport.value(), HEAD + self.BODY)
        self.connection.dataReceived(ANSWER)
        self.successResultOf(asking)
        self.assertEqual(self.unused, 1)

    def test_answered_before_it_is_sent(self) -> None:
        """A node that refuses without reading on is heard, and the connection is of no use."""
        self.transport.full = True
        asking = self.ask()
        self.connection.dataReceived(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        self.assertEqual(self.successResultOf(asking), Answer(413, b""))
        self.assertTrue(self.transport.aborted)
        self.assertEqual(self.unused, 0)

    def test_stopped(self) -> None:
        """Nothing more is written once the connection is lost."""
        self.transport.full = True
        asking = self.ask()
        producer: Any = self.transport.producer
        producer.stopProducing()
        self.goes()
        self.failureResultOf(asking, ConnectionDone)
        sent = len(self.transport.value())
        self.assertLess(sent, len(self.BODY))
