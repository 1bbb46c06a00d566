"""Calls in real threads."""

import threading
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater

from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.contracts.threads import ThreadsContract


class ReactorThreadsTests(ThreadsContract):
    """The contract in the reactor's pool."""

    def setUp(self) -> None:
        """The reactor's own pool."""
        running: Any = reactor
        self.threads = reactor_threads(running)

    def test_other_thread(self) -> Deferred[None]:
        """The call is not made in the reactor's thread, the answer comes there."""

        async def calls() -> None:
            self.assertNotEqual(await self.threads.run(threading.get_ident), threading.get_ident())

        return Deferred.fromCoroutine(calls())

    def test_cancel(self) -> Deferred[None]:
        """Who stops waiting is free at once; the call runs to its end and its answer harms nobody."""

        async def calls() -> None:
            go_on, done = threading.Event(), threading.Event()

            def call() -> None:
                go_on.wait(30)
                done.set()

            waiting = self.threads.run(call)
            waiting.cancel()
            self.failureResultOf(waiting, CancelledError)
            self.assertFalse(done.is_set())
            go_on.set()
            await self.threads.run(done.wait, 30)
            self.assertTrue(done.is_set())
            await deferLater(reactor, 0.001)

        return Deferred.fromCoroutine(calls())


del ThreadsContract  # trial would run it on its own
