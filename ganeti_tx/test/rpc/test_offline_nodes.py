"""Calls of nodes over an agent that takes note."""

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface import implementer

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.rpc.calls.queue import JobqueuePurge
from ganeti_tx.rpc.client import HttpNodeRpc
from ganeti_tx.rpc.http.answer import Answer
from ganeti_tx.rpc.http.interfaces import INodeAgent
from ganeti_tx.rpc.interfaces import NodeOfflineError

AWAY = NodeAddress("node2.example.com", "192.0.2.2", offline=True)
HERE = NodeAddress("node3.example.com", "192.0.2.3")


@implementer(INodeAgent)
class SilentAgent:
    """Notes where requests go and answers none."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def ask(self, host: str, port: int, name: str, body: bytes, limit: int) -> "Deferred[Answer]":
        """As INodeAgent says."""
        self.requests.append(host)
        return Deferred()

    def start_anew(self) -> None:
        """There are no connections."""


class OfflineTests(SynchronousTestCase):
    """Nodes that are marked offline."""

    def setUp(self) -> None:
        """A client whose requests are noted."""
        self.agent = SilentAgent()
        self.rpc = HttpNodeRpc(self.agent, Clock())

    def test_answered_at_once(self) -> None:
        """A call of an offline node fails at once, and nothing is sent (design-2.0, Node flags)."""
        failure = self.failureResultOf(Deferred.fromCoroutine(self.rpc.call(AWAY, JobqueuePurge())), NodeOfflineError)
        self.assertIn("node2.example.com is marked offline", str(failure.value))
        self.assertEqual(self.agent.requests, [])

    def test_among_others(self) -> None:
        """Of several nodes only those that are not offline are sent anything."""
        calling = Deferred.fromCoroutine(self.rpc.call_many([AWAY, HERE], JobqueuePurge()))
        self.assertNoResult(calling)
        self.assertEqual(self.agent.requests, ["192.0.2.3"])
        calling.cancel()
        self.failureResultOf(calling)
