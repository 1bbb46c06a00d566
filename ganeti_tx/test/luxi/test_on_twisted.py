"""The LUXI client on Twisted."""

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi.conversation import Conversation
from ganeti_tx.luxi.on_twisted import connector


class ConnectTests(SynchronousTestCase):
    """Opening a connection."""

    def test_cancel(self) -> None:
        """Who gives up while the connection is being made sees a cancellation, as while it waits for an answer."""
        reactor: Any = MemoryReactorClock()

        async def reach() -> Conversation:
            return await connector(reactor, "/socket")()

        connecting = Deferred.fromCoroutine(reach())
        connecting.cancel()
        self.failureResultOf(connecting, CancelledError)
