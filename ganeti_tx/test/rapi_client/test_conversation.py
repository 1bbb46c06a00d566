"""A client's side of a connection in memory, with Deferreds for futures."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from txaio import tx

from ganeti_tx.rapi_client.async_client import AsyncClient, Framework
from ganeti_tx.rapi_client.conversation import Conversation
from ganeti_tx.rapi_client.errors import AnswerError, NoAnswerError, RapiError
from ganeti_tx.rapi_client.link import Link
from ganeti_tx.rapi_client.message import Message
from ganeti_tx.rapi_client.parts import MOST_WAITING
from ganeti_tx.rapi_client.server import Server

GET = Message("GET", "/version", safe=True)
TWO = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n2"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"


class ConversationCase(SynchronousTestCase):
    """Makes connections in memory."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.said: list[Any] = []
        self.talks: list[Conversation] = []
        self.talk = self.make()

    def make(self) -> Conversation:
        """A new connection."""
        said = self.said
        link = Link(
            lambda data: said.append(data.split(b"\r\n")[0].decode()),
            lambda: said.append("abort"),
            lambda: said.append("pause"),
            lambda: said.append("resume"),
            self.clock.callLater,
            lambda: True,
        )
        self.talks.append(Conversation(tx, link, Server("c", retries=0)))
        return self.talks[-1]


class ConversationTests(ConversationCase):
    """One connection."""

    def follow(self) -> Any:
        """The parts of an answer that has begun."""
        parts = self.talk.follow(GET)
        self.talk.received(STREAM)
        return parts

    def test_answers(self) -> None:
        """One request after the other is answered; nothing is left on the clock."""
        for _ in range(2):
            answer = self.talk.ask(GET)
            self.talk.received(TWO)
            self.assertEqual(self.successResultOf(answer).body, b"2")
        self.assertEqual((self.said, self.talk.open), (["GET /version HTTP/1.1"] * 2, True))
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_too_late(self) -> None:
        """A drop now and then keeps no request alive."""
        answer = self.talk.ask(GET)
        for byte in TWO[:30]:
            self.clock.advance(3)
            self.talk.received(bytes([byte]))
        self.failureResultOf(answer, NoAnswerError)
        self.assertEqual(self.said[-1], "abort")

    def test_unasked(self) -> None:
        """What comes unasked ends the connection, so that it is no answer to the next request."""
        self.talk.received(TWO)
        self.assertFalse(self.talk.open)
        self.assertRaises(NoAnswerError, self.talk.ask, GET)

    def test_lost(self) -> None:
        """With the connection the answer is lost, unless its end was the connection's."""
        answer = self.talk.ask(GET)
        self.talk.received(b"HTTP/1.1 200 OK\r\n\r\n2")
        self.talk.lost()
        self.assertEqual(self.successResultOf(answer).body, b"2")
        other = self.make()
        answer = other.ask(GET)
        other.lost()
        self.failureResultOf(answer, NoAnswerError)

    def test_parts(self) -> None:
        """An answer without end comes as it comes; silence ends it."""
        parts = self.follow()
        first = Deferred.fromCoroutine(parts.next())
        self.assertNoResult(first)
        self.talk.received(b"2\r\nab\r\n")
        self.assertEqual(self.successResultOf(first), b"ab")
        second = Deferred.fromCoroutine(parts.next())
        self.clock.advance(89)
        self.assertNoResult(second)
        self.clock.advance(2)
        self.failureResultOf(second, NoAnswerError)

    def test_end_of_parts(self) -> None:
        """A stream that ends gives what it still had, and then None."""
        parts = self.follow()
        self.talk.received(b"2\r\nab\r\n0\r\n\r\n")
        self.assertEqual(self.successResultOf(Deferred.fromCoroutine(parts.next())), b"ab")
        self.assertIsNone(self.successResultOf(Deferred.fromCoroutine(parts.next())))
        self.assertFalse(self.talk.open)

    def test_slow_reader(self) -> None:
        """Who takes nothing lets the server wait, and is not filled up."""
        parts = self.follow()
        part = b"%x\r\n%b\r\n" % (MOST_WAITING, b"x" * MOST_WAITING)
        self.talk.received(part)
        self.assertNotIn("pause", self.said)
        self.talk.received(part)
        self.assertEqual(self.said[-1], "pause")
        for _ in range(2):
            self.successResultOf(Deferred.fromCoroutine(parts.next()))
        self.assertEqual(self.said[-1], "resume")

    def test_refused_parts(self) -> None:
        """In place of the parts the error comes."""
        parts = self.talk.follow(GET)
        self.talk.received(b'HTTP/1.1 503 No\r\nContent-Length: 16\r\n\r\n{"message": "x"}')
        self.failureResultOf(Deferred.fromCoroutine(parts.next()), RapiError)

    def test_other_parts(self) -> None:
        """An answer that is no stream of events is not taken for a quiet one."""
        for head in (b"200 OK\r\nContent-Type: text/html\r\n\r\n<p>", b"200 OK\r\n\r\n", b"204 No Content\r\n\r\n"):
            talk = self.make()
            parts = talk.follow(GET)
            talk.received(b"HTTP/1.1 " + head)
            self.failureResultOf(Deferred.fromCoroutine(parts.next()), AnswerError)

    def test_leaving(self) -> None:
        """A reader who leaves in the middle of what comes leaves nothing on the clock."""
        parts = self.follow()

        async def read_one() -> None:
            await parts.next()
            self.talk.end(NoAnswerError("enough"))

        done = Deferred.fromCoroutine(read_one())
        self.talk.received(b"2\r\nab\r\n")
        self.successResultOf(done)
        self.assertEqual(self.clock.getDelayedCalls(), [])


class AsyncClientTests(ConversationCase):
    """Several connections of one client."""

    def client(self) -> AsyncClient:
        """A client whose connections are in memory."""
        self.talks.clear()

        async def connect() -> Conversation:
            return self.make()

        async def sleep(seconds: float) -> None:
            raise AssertionError("nothing is sent again here")

        return AsyncClient(Server("c", retries=0), Framework(connect, sleep, self.clock.seconds))

    def test_overlapping_calls(self) -> None:
        """Calls that overlap have connections of their own; one after another share one."""
        client = self.client()
        calls = [Deferred.fromCoroutine(client.get_version()) for _ in range(2)]
        self.assertEqual(len(self.talks), 2)
        for talk in self.talks:
            talk.received(TWO)
        self.assertEqual([self.successResultOf(call) for call in calls], [2, 2])
        again = Deferred.fromCoroutine(client.get_version())
        self.assertEqual(len(self.talks), 2)
        self.assertNoResult(again)
        again.cancel()
        self.failureResultOf(again)

    def test_cancelled(self) -> None:
        """The connection of a call that nobody waits for is not used again."""
        client = self.client()
        call = Deferred.fromCoroutine(client.get_version())
        call.cancel()
        self.failureResultOf(call)
        self.assertFalse(self.talks[0].open)

    def test_wrong_answer(self) -> None:
        """Nor is one over which came what cannot be read."""
        client = self.client()
        call = Deferred.fromCoroutine(client.get_version())
        self.talks[0].received(b"HELO\r\n\r\n")
        self.failureResultOf(call, AnswerError)
        self.assertFalse(self.talks[0].open)

    def test_close(self) -> None:
        """Closing ends what rests; the next call opens another."""
        client = self.client()
        call = Deferred.fromCoroutine(client.get_version())
        self.talks[0].received(TWO)
        self.successResultOf(call)
        client.close()
        self.assertFalse(self.talks[0].open)

    def test_close_meanwhile(self) -> None:
        """A call that is under way when the client is closed is answered, and its connection is closed then."""
        client = self.client()
        call = Deferred.fromCoroutine(client.get_version())
        client.close()
        self.talks[0].received(TWO)
        self.assertEqual(self.successResultOf(call), 2)
        self.assertFalse(self.talks[0].open)
