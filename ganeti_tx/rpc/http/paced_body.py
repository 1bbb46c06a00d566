"""A long body goes out as fast as it is taken."""

from typing import Any

from attrs import define, field
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

#: Bytes that are written at a time.
PIECE = 64 * 1024


@implementer(IPushProducer)
@define(eq=False)
class PacedBody:
    """Writes into a transport until that has enough, and goes on when it has room again."""

    transport: Any
    data: memoryview
    _at: int = field(default=0, init=False)
    _paused: bool = field(default=False, init=False)

    def start(self) -> None:
        """Begin; the transport hears when all has been written."""
        self.transport.registerProducer(self, True)
        self.resumeProducing()

    @property
    def is_out(self) -> bool:
        """Whether the transport has taken all of it."""
        return self._at >= len(self.data)

    def resumeProducing(self) -> None:
        """Write as long as there is room."""
        self._paused = False
        while not (self._paused or self.is_out):
            piece = self.data[self._at : self._at + PIECE]
            self._at += len(piece)
            self.transport.write(bytes(piece))
            if self.is_out:
                self.transport.unregisterProducer()

    def pauseProducing(self) -> None:
        """There is no room."""
        self._paused = True

    def stopProducing(self) -> None:
        """The connection is lost."""
        self._paused = True
