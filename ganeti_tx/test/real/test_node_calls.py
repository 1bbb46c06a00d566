"""Node calls from end to end: what becomes of calls, on good ways and bad ones."""

import ctypes
import socket
import ssl
import struct
from tempfile import NamedTemporaryFile
from typing import Any

from twisted.internet import reactor
from twisted.internet.defer import CancelledError, Deferred, gatherResults, maybeDeferred
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.protocol import Factory, Protocol
from twisted.internet.threads import deferToThread

from ganeti_tx.errors import GanetiError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.node.cluster_membership import AdmittedCallers
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.node.http import MAX_REQUEST, NodeSite
from ganeti_tx.node.master_guard import MasterGuard
from ganeti_tx.node.terms import Terms
from ganeti_tx.rpc.calls.cluster import UploadFile
from ganeti_tx.rpc.calls.disk import BlockdevShutdown
from ganeti_tx.rpc.calls.node import TestDelay, Version
from ganeti_tx.rpc.calls.os import OsDiagnose
from ganeti_tx.rpc.http.connection import ARRIVAL_LIMIT, SILENCE
from ganeti_tx.rpc.interfaces import NodeCallError, NodeUnreachableError
from ganeti_tx.rpc.refusals import NoStamp
from ganeti_tx.rpc.wire import encode_call
from ganeti_tx.test.real.node_call_case import AUTHORITY, CANDIDATE, LIMIT, NODE, NodeCallCase, asynchronous, pause

#: Linux's number of the option.
SO_ATTACH_FILTER = 26


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


def drop_all(there: socket.socket) -> None:
    """Have the kernel drop whatever comes for a socket, as if its cable were pulled: a filter of one instruction, "return 0"."""
    instruction = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
    there.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(instruction)))


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


class NodeCallTests(NodeCallCase):
    """Outcomes."""

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

    def go_dark(self) -> None:
        """Nothing arrives any more on the connections that are there, and nobody says so."""
        net: Any = reactor
        servers = [each for each in net.getReaders() if getattr(each, "server", None) is self.server]
        self.assertGreater(len(servers), 0)
        for each in servers:
            drop_all(each.socket)
            self.addCleanup(each.abortConnection)

    @asynchronous
    async def test_a_machine_that_has_gone_dark(self) -> None:
        """A call over a connection that was kept ends soon when nothing of it arrives, and no other kept one is tried."""
        rpc = self.rpc()
        agent: Any = rpc.agent
        agent._ways.arrives_within = 1.0
        await gatherResults([Deferred.fromCoroutine(rpc.call(NODE, TestDelay(duration=0.1), LIMIT)) for _ in range(2)])
        self.go_dark()
        text = await self.fails(rpc.call(NODE, TestDelay(duration=0.0), LIMIT), NodeUnreachableError)
        self.assertIn("nothing answers at its address", text)
        await rpc.call(NODE, TestDelay(duration=0.0), 0.5)

    @asynchronous
    async def test_dark_later(self) -> None:
        """A call that has arrived is waited for, though its node is not heard for a while."""
        rpc = self.rpc()
        agent: Any = rpc.agent
        agent._ways.arrives_within = 0.2
        calling = Deferred.fromCoroutine(rpc.call(NODE, TestDelay(duration=0.6), LIMIT))
        await pause(0.1)
        self.go_dark()
        await calling

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
