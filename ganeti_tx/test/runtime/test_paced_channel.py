"""Clients that ask for more than they read."""

from typing import Any

from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.trial.unittest import SynchronousTestCase
from twisted.web.http import HTTPFactory, Request

from ganeti_tx.runtime.paced_channel import PacedChannel

ASK = b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n"
FULL = 1000


class Full(StringTransport):
    """A transport that is full after some bytes, until they are read."""

    producer: Any

    def write(self, data: bytes) -> None:
        """What a channel sends."""
        super().write(data)
        if len(self.value()) > FULL and self.producer is not None:
            self.producer.pauseProducing()

    def writeSequence(self, data: Any) -> None:
        """The same in parts."""
        self.write(b"".join(data))

    def read(self) -> list[bytes]:
        """The paths that were answered, which the client reads now."""
        found = [line.partition(b": ")[2] for line in self.value().splitlines() if line.startswith(b"Path: ")]
        self.clear()
        self.producer.resumeProducing()
        return found


class Slow(Request):
    """Waits until it is told to answer."""

    channel: Any

    def process(self) -> None:
        """As http.Request says."""
        self.channel.site.in_hand.append(self)

    def answer(self) -> None:
        """Say which path was asked for."""
        self.setHeader(b"Path", self.path)
        self.setHeader(b"Content-Length", b"0")
        self.finish()


class Quick(Slow):
    """Answers at once."""

    def process(self) -> None:
        """As http.Request says."""
        self.answer()


class PacedChannelTests(SynchronousTestCase):
    """One connection."""

    def connect(self, kind: type[Request]) -> Any:
        """Whose requests are of a kind."""
        self.transport = Full()
        channel: Any = PacedChannel()
        channel.requestFactory = kind
        channel.factory = channel.site = HTTPFactory(reactor=Clock())
        channel.site.in_hand = []
        channel.makeConnection(self.transport)
        return channel

    def test_quick(self) -> None:
        """As many are answered as fill the transport, the others as the client reads, each once and in its order."""
        channel = self.connect(Quick)
        channel.dataReceived(b"".join(ASK % number for number in range(100)))
        self.assertLess(len(self.transport.value()), FULL + 100)
        self.assertEqual(self.transport.producerState, "paused")
        found: list[bytes] = []
        while some := self.transport.read():
            self.assertLess(len(some), 30)
            found += some
        self.assertEqual(found, [b"/%d" % number for number in range(100)])
        self.assertEqual(self.transport.producerState, "producing")

    def test_order(self) -> None:
        """What was read before the pause comes before what came after it, when a request was in hand all the time."""
        channel = self.connect(Slow)
        channel.dataReceived(b"".join(ASK % number for number in range(3)))
        channel.pauseProducing()
        channel.dataReceived(ASK % 3 + ASK % 4)  # as what TLS has decrypted already
        channel.site.in_hand[0].answer()
        self.assertEqual(len(channel.site.in_hand), 1)
        self.assertEqual(self.transport.read(), [b"/0"])
        for number in range(1, 5):
            channel.site.in_hand[number].answer()
        self.assertEqual(self.transport.read(), [b"/%d" % number for number in range(1, 5)])

    def test_in_hand(self) -> None:
        """Nothing more is read while one is in hand on a full transport; afterwards only so much as is kept anyway."""
        channel = self.connect(Slow)
        channel.dataReceived(ASK % 0)
        channel.pauseProducing()
        self.assertEqual(self.transport.producerState, "paused")
        channel.resumeProducing()
        self.assertEqual(self.transport.producerState, "producing")
        channel.dataReceived(ASK % 1 * 10_000)
        channel.pauseProducing()
        channel.resumeProducing()
        self.assertEqual(self.transport.producerState, "paused")
