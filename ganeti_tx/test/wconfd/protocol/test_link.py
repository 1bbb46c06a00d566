"""A job's line to WConfD, with connections that the test makes."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from txaio import tx

from ganeti_tx.luxi.conversation import Conversation
from ganeti_tx.luxi.conversation import Link as Wire
from ganeti_tx.wconfd.protocol.client import NOBODY
from ganeti_tx.wconfd.protocol.link import RETRY_INTERVAL, Link
from ganeti_tx.wconfd.protocol.own_calls import LIST_LOCKS


class LinkTests(SynchronousTestCase):
    """Short requests."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.connecting: list[Deferred[Conversation]] = []
        self.sent: list[Conversation] = []
        self.link = Link(connect=self.connect, connect_to_wait=self.connect, clock=self.clock)

    def connect(self) -> "Deferred[Conversation]":
        """The test says when it is there."""
        self.connecting.append(Deferred())
        return self.connecting[-1]

    def connected(self, hangs_up: bool = False) -> Conversation:
        """The first connection that is awaited is there; WConfD may hang up as soon as it is asked."""
        framework: Any = tx

        def write(data: bytes) -> None:
            self.sent.append(conversation)
            if hangs_up:
                self.clock.callLater(0, conversation.lost)

        conversation = Conversation(framework, Wire(write, lambda: None, self.clock.callLater), 600.0)
        self.connecting.pop(0).callback(conversation)
        return conversation

    def ask(self) -> "Deferred[dict[str, str]]":
        """A request that may be repeated."""
        return Deferred.fromCoroutine(self.link.ask(LIST_LOCKS, NOBODY))

    def test_together(self) -> None:
        """Two that are asked before there is a connection share one; no other is left open."""
        self.ask(), self.ask()
        first, second = self.connected(), self.connected()
        self.assertEqual((first.open, second.open), (True, False))
        self.assertEqual(self.sent, [first, first])

    def test_hung_up(self) -> None:
        """A WConfD that hangs up on every request is not asked without a pause."""
        asked = self.ask()
        self.connected(hangs_up=True)
        self.clock.advance(0)
        self.assertEqual(self.connecting, [])
        self.clock.advance(RETRY_INTERVAL)
        self.assertEqual(len(self.connecting), 1)
        self.assertNoResult(asked)
