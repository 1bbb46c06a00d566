"""Node calls from end to end: the real agent, TLS on the loopback, the real HTTP server of a node daemon."""

import os
import socket
import ssl
import struct
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, cast

from twisted.internet import reactor
from twisted.internet.defer import CancelledError, Deferred, maybeDeferred
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.node.answers import answers
from ganeti_tx.node.call_order import CallOrder
from ganeti_tx.node.cluster_membership import AdmittedCallers
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.http import MAX_REQUEST, NodeSite
from ganeti_tx.node.master_guard import MasterGuard
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.rpc.calls.cluster import UploadFile
from ganeti_tx.rpc.calls.disk import BlockdevShutdown
from ganeti_tx.rpc.calls.node import TestDelay, Version
from ganeti_tx.rpc.calls.os import OsDiagnose
from ganeti_tx.rpc.client import HttpNodeRpc
from ganeti_tx.rpc.http.connection import ARRIVAL_LIMIT, SILENCE
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.rpc.refusals import NoStamp, NotCandidate
from ganeti_tx.rpc.wire import encode_call
from ganeti_tx.runtime.certificates import Identity, create_authority, digest, issue_client, issue_server
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.files_replace import replace_file
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pinned_certificates import remember_joining
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


def blocking_connection(port: int) -> ssl.SSLSocket:
    """A candidate's connection to the node, outside of the reactor."""
    with NamedTemporaryFile() as keys:
        keys.write(CANDIDATE.bundle)
        keys.flush()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.load_verify_locations(cadata=AUTHORITY.certificate.decode())
        context.load_cert_chain(keys.name)
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port)))


class Junk(Protocol):
    """Answers everything with the same bytes, for ever if it is told so."""

    answer = b""
    endless = False

    def dataReceived(self, data: bytes) -> None:
        transport: Any = self.transport
        transport.write(self.answer)
        if self.endless:
            self.endless = False
            transport.registerProducer(self, False)

    def resumeProducing(self) -> None:
        """Some more."""
        assert self.transport is not None
        self.transport.write(b"x" * 65536)

    def stopProducing(self) -> None:
        """The caller has gone."""


class NodeCallTests(TestCase):
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

    @asynchronous
    async def test_a_machine_that_goes_dark(self) -> None:
        """The kernel asks a silent node for signs of life, so that its callers do not wait for ever."""
        rpc = self.rpc()
        await rpc.call(NODE, Version())
        agent: Any = rpc.agent
        ((connection,),) = agent._ways.kept._unused.values()
        used = connection.transport.socket
        self.assertEqual(used.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE), 1)
        self.assertEqual(used.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE), SILENCE)
        self.assertEqual(used.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT), ARRIVAL_LIMIT)

    @asynchronous
    async def test_given_up_while_nobody_read(self) -> None:
        """A daemon that stood still does not begin a call whose caller has hung up meanwhile, however it did."""
        body = encode_call(TestDelay(duration=0.0))
        head = f"POST /test_delay HTTP/1.1\r\nHost: node1\r\nContent-Length: {len(body)}\r\n\r\n"
        for abort in (False, True):
            connection = await deferToThread(blocking_connection, self.port)
            await pause(0.05)
            # from here on the reactor stands still
            if abort:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(head.encode() + body)
            connection.close()
            await pause(0.2)
        self.assertEqual(self.started, 0)
        await self.rpc().call(NODE, TestDelay(duration=0.0), LIMIT)
        self.assertEqual(self.started, 1)

    @asynchronous
    async def test_success(self) -> None:
        """A call gives its typed result, again and again over a connection that is kept."""
        rpc = self.rpc()
        for _ in range(3):
            self.assertEqual(await rpc.call(NODE, Version(), LIMIT), 42)

    @asynchronous
    async def test_failure(self) -> None:
        """A call that fails there fails here with the node's own words."""
        text = await self.fails(self.rpc().call(NODE, TestDelay(duration=-1.0), LIMIT), NodeCallError)
        self.assertIn("time does not run backwards", text)

    @asynchronous
    async def test_broken_call(self) -> None:
        """A fault of the node daemon is one line for the caller, and in the daemon's log in full."""
        text = await self.fails(self.rpc().call(NODE, UploadFile(path="/x", data=b""), LIMIT), NodeCallError)
        self.assertIn("internal error", text)
        self.assertEqual(len(self.flushLoggedErrors(ZeroDivisionError)), 1)

    @asynchronous
    async def test_unknown_call(self) -> None:
        """A call that this node daemon does not have is refused by name."""
        text = await self.fails(self.rpc().call(NODE, OsDiagnose(), LIMIT), NodeCallError)
        self.assertIn("404", text)
        self.assertIn("os_diagnose", text)
        self.assertIn("install the same on all nodes", text)

    @asynchronous
    async def test_no_stamp(self) -> None:
        """An older master, which sends no stamp, cannot read how errors are written today: it gets a status and text."""
        guard = MasterGuard(self.files, self.paths, "node1", Terms(self.files, self.paths), self.no_master_daemons)
        admitted = AdmittedCallers(self.files, self.paths).admitted
        self.listen(NodeSite(NodeDispatch(self, guard=guard.perform), admitted, reactor))
        outcome = (await self.rpc().call_many([NODE], UploadFile(path="/x", data=b""), LIMIT))["node1"]
        assert isinstance(outcome.error, NodeCallError)
        self.assertIsInstance(outcome.error.cause, NoStamp)
        self.assertIn("HTTP status 426", str(outcome.error))
        self.assertIn("install the same on all nodes", str(outcome.error))

    async def no_master_daemons(self) -> None:
        """There are none to stop."""

    @asynchronous
    async def test_not_a_candidate(self) -> None:
        """A certificate of the cluster that is no candidate's may not call."""
        outcome = (await self.rpc(NOT_ADMITTED).call_many([NODE], Version(), LIMIT))["node1"]
        assert isinstance(outcome.error, NodeCallError)
        self.assertIsInstance(outcome.error.cause, NotCandidate)
        self.assertIn("master candidates", str(outcome.error))

    @asynchronous
    async def test_not_admitted_with_much_to_say(self) -> None:
        """Who may not call is not listened to for long."""
        text = await self.fails(
            self.rpc(NOT_ADMITTED).call(NODE, UploadFile(path="/x", data=b"x" * 10**6), LIMIT), GanetiError
        )
        self.assertTrue("413" in text or "cannot reach" in text, text)
        await pause(0.2)

    @asynchronous
    async def test_candidates_change(self) -> None:
        """Who becomes a candidate may call at once, who ceases to be one may not, on a kept connection too."""
        rpc = self.rpc(NOT_ADMITTED)
        await self.fails(rpc.call(NODE, Version(), LIMIT), NodeCallError)
        certs = self.paths.ssconf_file("master_candidates_certs")
        self.write(certs, f"a={digest(CANDIDATE.certificate)}\nb={digest(NOT_ADMITTED.certificate)}\n".encode())
        self.assertEqual(await rpc.call(NODE, Version(), LIMIT), 42)
        self.write(certs, b"\xff\xfe junk \xff=\xfe\n")
        await self.fails(rpc.call(NODE, Version(), LIMIT), NodeCallError)
        self.files.remove(certs)
        await self.fails(rpc.call(NODE, Version(), LIMIT), NodeCallError)

    @asynchronous
    async def test_foreign_certificate(self) -> None:
        """A certificate of another authority does not get through TLS; the caller hears of it in one line."""
        foreign = issue_client(FOREIGN, "node2", NOW)
        text = await self.fails(self.rpc(foreign).call(NODE, Version(), LIMIT), NodeUnreachableError)
        self.assertIn("cannot reach", text)

    @asynchronous
    async def test_foreign_node(self) -> None:
        """A node with another authority's certificate gets no call."""
        text = await self.fails(self.rpc(authority=FOREIGN).call(NODE, Version(), LIMIT), NodeUnreachableError)
        self.assertIn("certificate verify failed", text)

    def pinned(self, certificate: bytes) -> HttpNodeRpc:
        """A caller that knows the node by a certificate."""
        rpc = self.rpc()
        self.known(certificate)
        return rpc

    def known(self, certificate: bytes) -> None:
        """What the callers' simple configuration says from now on."""
        for key, value in (("node_primary_ips", "node1 127.0.0.1"), ("node_certs", f"node1={digest(certificate)}")):
            replace_file(self.caller_paths.ssconf_file(key), f"{value}\n".encode(), 0o644)

    @asynchronous
    async def test_pinned(self) -> None:
        """A node that shows the certificate by which the cluster knows it is called."""
        self.assertEqual(await self.pinned(SERVER.certificate).call(NODE, Version(), LIMIT), 42)

    @asynchronous
    async def test_impostor(self) -> None:
        """One that was a candidate, and has signed itself a certificate for the node's address, is told nothing."""
        rpc = self.pinned(issue_server(AUTHORITY, ["node1", "localhost", "127.0.0.1", "::1"], NOW).certificate)
        text = await self.fails(rpc.call(NODE, TestDelay(duration=0.0), LIMIT), NodeUnreachableError)
        self.assertIn("another certificate than the one", text)
        self.assertIn("--readd", text)
        self.assertEqual(self.started, 0)
        self.known(SERVER.certificate)  # the node was added again
        self.assertEqual(await rpc.call(NODE, Version(), LIMIT), 42)

    @asynchronous
    async def test_joining(self) -> None:
        """A node that is set up anew is known by its new keys, too, before the configuration knows it."""
        rpc = self.pinned(issue_server(AUTHORITY, ["node1", "localhost", "127.0.0.1", "::1"], NOW).certificate)
        remember_joining(self.caller_paths, "127.0.0.1", digest(SERVER.certificate))
        self.assertEqual(await rpc.call(NODE, Version(), LIMIT), 42)

    @asynchronous
    async def test_joined_long_ago(self) -> None:
        """Keys that were made for a node some time ago, and are not what the configuration knows, are nobody's."""
        rpc = self.pinned(issue_server(AUTHORITY, ["node1", "localhost", "127.0.0.1", "::1"], NOW).certificate)
        remember_joining(self.caller_paths, "127.0.0.1", digest(SERVER.certificate))
        long_ago = time.time() - 7200
        os.utime(self.caller_paths.joining_file("127.0.0.1"), (long_ago, long_ago))
        await self.fails(rpc.call(NODE, Version(), LIMIT), NodeUnreachableError)

    @asynchronous
    async def test_caller_signed_by_himself(self) -> None:
        """The authority's key does not make a candidate's name one's own: the digest of the certificate counts."""
        again = issue_client(AUTHORITY, "node2", NOW)
        text = await self.fails(self.rpc(again).call(NODE, Version(), LIMIT), NodeCallError)
        self.assertIn("403", text)

    @asynchronous
    async def test_nobody_listens(self) -> None:
        """A node without a daemon is unreachable, with the system's reason."""
        await maybeDeferred(self.server.stopListening)
        text = await self.fails(self.rpc().call(NODE, Version(), LIMIT), NodeUnreachableError)
        self.assertIn("does not run", text)

    @asynchronous
    async def test_too_late(self) -> None:
        """A node that does not answer in time is unreachable, and the call is named."""
        text = await self.fails(self.rpc().call(NODE, TestDelay(duration=1.5), 0.2), NodeUnreachableError)
        self.assertIn("did not answer test_delay within 0 s", text)
        await pause(1.6)

    @asynchronous
    async def test_cancel(self) -> None:
        """A call that its caller cancels ends as cancelled, not as an error of the node."""
        calling = Deferred.fromCoroutine(self.rpc().call(NODE, TestDelay(duration=0.5), LIMIT))
        while not self.started:
            await pause(0.01)
        calling.cancel()
        with self.assertRaises(CancelledError):
            await calling
        await pause(0.6)

    @asynchronous
    async def test_given_up_while_it_waits(self) -> None:
        """A call that waits for another one's disk is not begun when its caller has hung up by then."""
        call = BlockdevShutdown(disk=DiskSpec(uuid="a", dev_type="file", size=1, logical_id=None), owner="web1")
        first = Deferred.fromCoroutine(self.rpc().call(NODE, call, LIMIT))
        while not self.started:
            await pause(0.01)
        await self.fails(self.rpc().call(NODE, call, 0.2), NodeUnreachableError)
        await first
        await pause(0.1)
        self.assertEqual(self.started, 1)
        await self.rpc().call(NODE, call, LIMIT)
        self.assertEqual(self.started, 2)

    @asynchronous
    async def test_server_closes_kept_connections(self) -> None:
        """A call after a restart of the node daemon goes over a new connection."""
        rpc = self.rpc()
        await rpc.call(NODE, Version(), LIMIT)
        port = self.port
        await maybeDeferred(self.server.stopListening)
        for channel in list(channels_of(reactor, port)):
            channel.loseConnection()
        await pause(0.05)
        text = await self.fails(rpc.call(NODE, Version(), LIMIT), NodeUnreachableError)
        self.assertIn("does not run", text)
        dispatch = NodeDispatch(self)
        self.listen(NodeSite(dispatch, AdmittedCallers(self.files, self.paths).admitted, reactor), port)
        self.assertEqual(await rpc.call(NODE, Version(), LIMIT), 42)

    async def junk(self, answer: bytes, endless: bool = False) -> str:
        """Call a server that answers with these bytes."""
        factory = Factory.forProtocol(type("SomeJunk", (Junk,), {"answer": answer, "endless": endless}))
        factory.noisy = False
        self.listen(factory)
        return await self.fails(self.rpc().call(NODE, Version(), LIMIT), GanetiError)

    @asynchronous
    async def test_junk(self) -> None:
        """What is no HTTP, no MessagePack or not the call's result is a clear error."""
        self.assertIn("cannot reach", await self.junk(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"))
        self.assertIn("something else", await self.junk(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\njunk"))
        self.assertIn("something else", await self.junk(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\x92\xc3\xa1x"))
        self.assertIn("500", await self.junk(b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"))

    @asynchronous
    async def test_each_kind_of_address(self) -> None:
        """A node is reached by an address of either kind, and by a name."""
        self.assertEqual(await self.rpc().call(NodeAddress("node1", "localhost"), Version(), LIMIT), 42)
        self.listen(self.site, address="::1")
        self.assertEqual(await self.rpc().call(NodeAddress("node1", "::1"), Version(), LIMIT), 42)

    @asynchronous
    async def test_endless_answer(self) -> None:
        """An answer beyond the call's limit is cut off, once."""
        text = await self.junk(b"HTTP/1.1 200 OK\r\n\r\n", endless=True)
        self.assertIn("more than", text)
        await pause(0.2)

    async def raw(self, request: bytes) -> bytes:
        """What the node answers to bytes from a candidate."""
        net: Any = reactor
        rpc = self.rpc()
        agent: Any = rpc.agent
        options = agent._ways.trust.creatorForNetloc(b"127.0.0.1", self.port)
        caller = RawCaller(request)
        factory = Factory()
        factory.noisy = False
        factory.buildProtocol = lambda addr: caller  # type: ignore[method-assign]
        from_endpoint = wrapClientTLS(options, HostnameEndpoint(net, "127.0.0.1", self.port))
        await from_endpoint.connect(factory)
        return await caller.answer

    @asynchronous
    async def test_refusals(self) -> None:
        """Another method, bad arguments and a body that no call may have are refused with their status."""
        head = b" HTTP/1.1\r\nHost: node1\r\nConnection: close\r\n"
        self.assertIn(b"405", (await self.raw(b"GET /version" + head + b"\r\n")).splitlines()[0])
        self.assertIn(
            b"404", (await self.raw(b"POST /../etc/passwd" + head + b"Content-Length: 0\r\n\r\n")).splitlines()[0]
        )
        bad = await self.raw(b"POST /test_delay" + head + b"Content-Length: 1\r\n\r\n\x80")
        self.assertIn(b"400", bad.splitlines()[0])
        self.assertIn(b"duration", bad)
        large = b"Content-Length: %d\r\n\r\n" % (MAX_REQUEST + 1)
        self.assertIn(b"413", (await self.raw(b"POST /version" + head + large + b"x" * 1000)).splitlines()[0])
        chunked = b"Transfer-Encoding: chunked\r\n\r\n3e8\r\n" + b"x" * 1000
        self.assertIn(b"413", (await self.raw(b"POST /version" + head + chunked)).splitlines()[0])


class RawCaller(Protocol):
    """Says its piece and collects what comes until the end."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self._data = b""
        self.answer: Deferred[bytes] = Deferred()

    def connectionMade(self) -> None:
        assert self.transport is not None
        self.transport.write(self._request)

    def dataReceived(self, data: bytes) -> None:
        self._data += data

    def connectionLost(self, reason: Any = None) -> None:
        self.answer.callback(self._data)


def channels_of(net: Any, port: int) -> list[Any]:
    """The server's ends of connections to a port."""
    return [
        each
        for each in net.getReaders()
        if hasattr(each, "getPeer")
        and hasattr(each, "server")
        and getattr(each, "server", None) is not None
        and each.getHost().port == port
    ]
