"""The configuration over the wire keeps every rule of the one in the same process."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from twisted.internet.defer import Deferred

from ganeti_tx.test.config import test_changes
from ganeti_tx.test.wconfd.protocol.loopback import Cluster

T = TypeVar("T")


class RemoteChangeTests(test_changes.ChangeTests):
    """The same tests through both ends of the protocol."""

    def setUp(self) -> None:
        self.cluster = Cluster()
        wconfd = self.cluster.start()
        self.store, self.reservations = wconfd.store, wconfd.reservations
        client = self.cluster.client()
        self.config = client.config(self.cluster.job(7))
        self.other = client.config(self.cluster.job(8))

    def begin(self, work: Coroutine[Any, Any, T]) -> "Deferred[T]":
        """Start something and let the wires carry it."""
        return self.cluster.begin(work)
