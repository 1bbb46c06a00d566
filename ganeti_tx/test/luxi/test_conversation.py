"""A client's side of a connection in memory, with Deferreds for futures."""

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from txaio import tx

from ganeti_tx.errors import JobLost
from ganeti_tx.luxi import transport_errors
from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.luxi.conversation import Conversation, Link


def answer(text: str) -> bytes:
    """A framed answer that succeeds."""
    return b'{"success":true,"result":%s}\x03' % text.encode()


class ConversationTests(SynchronousTestCase):
    """Who gets which answer."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.written: list[bytes] = []
        self.aborted: list[bool] = []
        self.talk = self.make()

    def make(self) -> Conversation:
        """A new conversation."""
        link = Link(self.written.append, lambda: self.aborted.append(True), self.clock.callLater)
        return Conversation(tx, link, 180)

    def test_order(self) -> None:
        """Answers belong to the requests in their order, an error to its own."""
        first, second, third = [self.talk.ask(b"%d" % number) for number in range(3)]
        self.talk.received(answer("1") + b'{"success":false,"result":["JobLost",["x"]]}\x03' + answer("3")[:-1])
        self.assertEqual(self.successResultOf(first), 1)
        self.failureResultOf(second, JobLost)
        self.assertNoResult(third)
        self.talk.received(b"\x03")
        self.assertEqual(self.successResultOf(third), 3)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_cancelled_waiter_keeps_its_place(self) -> None:
        """The answer to a request nobody waits for any more goes to nobody."""
        first, second = self.talk.ask(b"a"), self.talk.ask(b"b")
        first.cancel()
        self.failureResultOf(first, CancelledError)
        self.talk.received(answer("1") + answer("2"))
        self.assertEqual(self.successResultOf(second), 2)

    def test_time_counts_for_the_oldest(self) -> None:
        """A request has its time from when it is the oldest; then all fail and the connection is aborted."""
        first, second, third = [self.talk.ask(b"x") for _ in range(3)]
        self.clock.advance(179)
        self.talk.received(answer("1"))
        self.clock.advance(179)
        self.assertNoResult(second)
        self.clock.advance(1)
        self.successResultOf(first)
        for late in (second, third):
            self.failureResultOf(late, transport_errors.TimeoutError)
        self.assertEqual(self.aborted, [True])

    def test_lost(self) -> None:
        """When the connection is lost, what was asked fails, and nothing more can be asked."""
        first = self.talk.ask(b"x")
        self.talk.lost()
        self.failureResultOf(first, transport_errors.ConnectionClosedError)
        self.assertRaises(transport_errors.ConnectionClosedError, self.talk.ask, b"y")
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_unasked_answer(self) -> None:
        """A server that answers too much is not trusted any further."""
        first = self.talk.ask(b"x")
        self.talk.received(answer("1") + answer("2"))
        self.assertEqual(self.successResultOf(first), 1)
        self.assertFalse(self.talk.open)

    def test_overlapping_first_calls(self) -> None:
        """Calls that find no connection open share the one that comes first; a lost one is opened again."""
        connecting: list[Deferred[Conversation]] = []

        def connect() -> Deferred[Conversation]:
            connecting.append(Deferred())
            return connecting[-1]

        client = AsyncClient(connect)
        calls: list[Deferred[Any]] = [Deferred.fromCoroutine(client.archive_job(number)) for number in (1, 2)]
        connecting[0].callback(self.talk)
        connecting[1].callback(self.make())
        self.talk.received(answer("true") + answer("false"))
        self.assertEqual([self.successResultOf(call) for call in calls], [True, False])
        self.assertEqual(self.aborted, [True])
        self.talk.lost()
        Deferred.fromCoroutine(client.archive_job(3)).addErrback(lambda failure: None)
        self.assertEqual(len(connecting), 3)
