"""The LUXI client on Twisted."""

from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.error import ConnectError, ConnectionDone
from twisted.internet.testing import MemoryReactorClock
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi import transport_errors
from ganeti_tx.luxi.conversation import Conversation
from ganeti_tx.luxi.on_twisted import connector


class ConnectTests(SynchronousTestCase):
    """Opening a connection."""

    def test_too_many_wait(self) -> None:
        """Where as many wait already as can, the daemon is there; the error says that it takes nobody, in words."""
        reactor: Any = MemoryReactorClock()

        async def reach() -> Conversation:
            return await connector(reactor, "/socket")()

        connecting = Deferred.fromCoroutine(reach())
        reactor.unixClients[0][1].clientConnectionFailed(None, Failure(ConnectError(string=Failure(ConnectionDone()))))
        told = str(self.failureResultOf(connecting, transport_errors.TimeoutError).value)
        self.assertTrue(told.endswith("at /socket took no connection in time"), told)

    def test_cancel(self) -> None:
        """Who gives up while the connection is being made sees a cancellation, as while it waits for an answer."""
        reactor: Any = MemoryReactorClock()

        async def reach() -> Conversation:
            return await connector(reactor, "/socket")()

        connecting = Deferred.fromCoroutine(reach())
        connecting.cancel()
        self.failureResultOf(connecting, CancelledError)
