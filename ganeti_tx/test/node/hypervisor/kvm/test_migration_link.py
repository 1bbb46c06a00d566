"""Who sends a machine waits a little for who listens: a node daemon that is started again is away for seconds."""

import socket
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.migration_link import CONNECT_LIMIT, PAUSE, connected

HERE = "127.0.0.1"


class ConnectedTests(SynchronousTestCase):
    """At a port of this machine at which nobody listens yet."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.listener = socket.socket()
        self.addCleanup(self.listener.close)
        self.listener.bind((HERE, 0))

    def connecting(self) -> "Deferred[Any]":
        """The address from which a connection came, once there is one."""

        async def peer() -> Any:
            async with connected(self.clock, HERE, self.listener.getsockname()[1], "127.0.0.2"):
                return self.listener.accept()[1][0]

        return Deferred.fromCoroutine(peer())

    def pass_time(self, seconds: float) -> None:
        """As many looks as there are in it."""
        self.clock.pump([PAUSE] * round(seconds / PAUSE))

    def test_comes_back(self) -> None:
        """It is connected as soon as somebody listens."""
        connecting = self.connecting()
        self.pass_time(CONNECT_LIMIT / 2)
        self.assertNoResult(connecting)
        self.listener.listen()
        self.pass_time(3 * PAUSE)
        self.assertEqual(self.successResultOf(connecting), "127.0.0.2")

    def test_nobody(self) -> None:
        """The end of it is that nobody does."""
        connecting = self.connecting()
        self.pass_time(CONNECT_LIMIT - 3 * PAUSE)
        self.assertNoResult(connecting)
        self.pass_time(6 * PAUSE)
        failed = self.failureResultOf(connecting, HypervisorError)
        self.assertIn(f"nobody answers within {CONNECT_LIMIT:g} s: Connection refused", failed.getErrorMessage())
        self.assertEqual(self.clock.getDelayedCalls(), [])
