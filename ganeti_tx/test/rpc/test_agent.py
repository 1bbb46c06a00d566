"""What makes node calls, on a reactor that connects to nothing."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.interfaces import NodeUnreachableError
from ganeti_tx.runtime.certificates import Identity, create_authority, issue_client
from ganeti_tx.runtime.files import FileStat, RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads

NOW = datetime.now(UTC)
NODES = [NodeAddress(f"node{number}", f"192.0.2.{number}") for number in range(1, 6)]
LIMIT = 3.0


class CountingFiles(RealFiles):
    """Counts how often files are looked at."""

    looks = 0

    def stat(self, path: Path) -> FileStat:
        """As IFiles says."""
        self.looks += 1
        return super().stat(path)


class AgentTests(SynchronousTestCase):
    """Calls that are under way."""

    def setUp(self) -> None:
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.data_dir.mkdir(parents=True)
        self.authority = create_authority("cluster", NOW)
        self.paths.authority_pem.write_bytes(self.authority.certificate)
        self.show(issue_client(self.authority, "node2", NOW))
        self.files = CountingFiles(InlineThreads())
        self.reactor = MemoryReactorClock()
        reactor: Any = self.reactor
        self.rpc = node_rpc(reactor, self.files, self.paths)
        self.agent: Any = self.rpc.agent

    def show(self, identity: Identity) -> None:
        """What this node shows when it calls."""
        self.paths.client_pem.write_bytes(identity.bundle)

    def call(self, node: NodeAddress = NODES[0]) -> "Deferred[int]":
        """Somebody calls a node."""
        return Deferred.fromCoroutine(self.rpc.call(node, Version(), LIMIT))

    def test_cancelled_while_connecting(self) -> None:
        """Who cancels a call hears that it was cancelled, before there is a connection too."""
        calling = self.call()
        calling.cancel()
        self.failureResultOf(calling, CancelledError)

    def test_too_late_while_connecting(self) -> None:
        """The time limit counts from the beginning."""
        calling = self.call()
        self.reactor.advance(LIMIT)
        failure = self.failureResultOf(calling, NodeUnreachableError)
        self.assertIn("did not answer version within 3 s", str(failure.value))

    def test_keys_are_looked_at(self) -> None:
        """Once for all calls that go out at the same time, and again for the next ones."""
        for _ in range(2):
            before = self.files.looks
            calling = [self.call(node) for node in NODES]
            once = self.files.looks - before
            self.assertEqual(once, 2)
            self.reactor.advance(0)
            for each in calling:
                each.cancel()
                self.failureResultOf(each, CancelledError)

    def test_other_keys(self) -> None:
        """New keys are another set of ways; as long as they are no keys, or are not there, those of before stay."""
        first = self.ways()
        self.assertIs(self.ways(), first)
        self.show(issue_client(self.authority, "node3", NOW))
        second = self.ways()
        self.assertIsNot(second, first)
        os.rename(self.paths.client_pem, self.paths.client_pem.with_suffix(".away"))
        self.assertIs(self.ways(), second)
        self.paths.client_pem.write_bytes(b"nonsense")
        self.assertIs(self.ways(), second)
        self.show(issue_client(self.authority, "node3", NOW))
        self.assertIsNot(self.ways(), second)

    def ways(self) -> object:
        """By which a call goes that comes now."""
        calling = self.call()
        calling.cancel()
        self.failureResultOf(calling, CancelledError)
        self.reactor.advance(0)
        return self.agent._ways
