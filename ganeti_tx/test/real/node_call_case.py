"""A node daemon's real HTTP server behind TLS on the loopback, and its callers with the real agent."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from twisted.internet import reactor
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.task import deferLater
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import GanetiError
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.node.answers import answers
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.cluster_membership import AdmittedCallers
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.http import NodeSite
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.rpc.calls.cluster import UploadFile
from ganeti_tx.rpc.calls.disk import BlockdevShutdown
from ganeti_tx.rpc.calls.node import TestDelay, Version
from ganeti_tx.rpc.client import HttpNodeRpc
from ganeti_tx.runtime.certificates import Identity, create_authority, digest, issue_client, issue_server
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IStreamReactor
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.runtime.tls import server_options
from ganeti_tx.test.fakes.files import MemoryFiles

NOW = datetime.now(UTC)
AUTHORITY = create_authority("cluster", NOW)
SERVER = issue_server(AUTHORITY, ["node1", "localhost", "127.0.0.1", "::1"], NOW)
CANDIDATE = issue_client(AUTHORITY, "node2", NOW)
NOT_ADMITTED = issue_client(AUTHORITY, "node3", NOW)
FOREIGN = create_authority("cluster", NOW)
NODE = NodeAddress("node1", "127.0.0.1")
LIMIT = 10.0

Test = Callable[[Any], Awaitable[None]]


def asynchronous(test: Test) -> Callable[[Any], "Deferred[None]"]:
    """A coroutine as a test."""

    def run(self: Any) -> "Deferred[None]":
        return Deferred.fromCoroutine(test(self))  # type: ignore[arg-type]

    run.__doc__, run.__name__ = test.__doc__, test.__name__
    return run


async def pause(seconds: float) -> None:
    """Let the reactor go on for a while."""
    clock: Any = reactor
    await deferLater(clock, seconds)


class NodeCallCase(TestCase):
    """A node, and those who call it."""

    timeout = 300

    def setUp(self) -> None:
        """A node daemon that accepts one certificate."""
        self.paths = Paths()
        self.files = MemoryFiles()
        self.files.mkdir(self.paths.data_dir)
        self.started = 0
        self.write(
            self.paths.ssconf_file("master_candidates_certs"), f"uuid={digest(CANDIDATE.certificate)}\n".encode()
        )
        dispatch = NodeDispatch(self, order=CallOrder(Terms(self.files, self.paths)).perform)
        callers = AdmittedCallers(self.files, self.paths)
        self.site = NodeSite(dispatch, callers.admitted, reactor)
        self.listen(self.site)

    def write(self, path: Any, data: bytes) -> None:
        """A file of the node."""
        Deferred.fromCoroutine(self.files.write_atomic(path, data))

    def listen(self, factory: Any, port: int = 0, address: str = "127.0.0.1") -> None:
        """A server with the node's certificate."""
        net: Any = reactor
        self.server = net.listenSSL(port, factory, server_options(SERVER, AUTHORITY.certificate), interface=address)
        server = self.server
        self.port = server.getHost().port
        self.addCleanup(lambda: maybeDeferred(server.stopListening))

    @answers(Version)
    async def version(self, call: Version) -> int:
        """One that succeeds."""
        return 42

    @answers(TestDelay)
    async def delay(self, call: TestDelay) -> None:
        """One that takes its time, or fails."""
        self.started += 1
        if call.duration < 0:
            raise GanetiError("time does not run backwards")
        await pause(call.duration)

    @answers(BlockdevShutdown)
    async def shutdown(self, call: BlockdevShutdown) -> None:
        """One that has its disk for itself."""
        self.started += 1
        await pause(0.5)

    @answers(UploadFile)
    async def upload(self, call: UploadFile) -> None:
        """One that is broken."""
        raise ZeroDivisionError("division by zero")

    def rpc(self, identity: Identity = CANDIDATE, authority: Identity = AUTHORITY) -> HttpNodeRpc:
        """A caller."""
        files = RealFiles(InlineThreads())
        paths = self.caller_paths = Paths(Path(self.mktemp()).absolute())
        paths.data_dir.mkdir(parents=True)
        paths.client_pem.write_bytes(identity.bundle)
        paths.authority_pem.write_bytes(authority.certificate)
        made = node_rpc(cast(IStreamReactor, reactor), files, paths)
        made.port = self.port
        agent: Any = made.agent
        self.addCleanup(agent.close)
        return made

    async def fails(self, work: Awaitable[Any], kind: type[Exception]) -> str:
        """The one line that a call failed with."""
        with self.assertRaises(kind) as caught:
            await work
        text = str(caught.exception)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertIn("node1", text)
        return text
