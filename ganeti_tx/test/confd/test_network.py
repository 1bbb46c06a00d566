"""The client over the network in memory does what it does over sockets."""

from collections.abc import Awaitable
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from ganeti_tx.confd.poll import Answer, Peer
from ganeti_tx.confd.protocol import Present
from ganeti_tx.confd.questions import Question
from ganeti_tx.test.confd.network import Network, honest, silent
from ganeti_tx.test.contracts.confd_client import ConfdClientContract


class NetworkTests(ConfdClientContract):
    """The contract in memory."""

    def serve(self, *servers: Present | None) -> None:
        """See the contract."""
        self.network = Network(Clock())
        for number, each in enumerate(servers):
            self.network.servers[Peer(f"192.0.2.{number}", 1814)] = silent if each is None else honest(each)

    def ask(self, question: Question[Any]) -> Awaitable[Answer[Any]]:
        """See the contract."""
        client = self.network.client()
        client.expiry = 0.5
        asking = Deferred.fromCoroutine(client.ask(question))
        self.network.clock.pump([0.1] * 60)
        return asking


del ConfdClientContract  # else trial would run it by itself
