"""Handshakes between two ends on the loopback."""

from datetime import UTC, datetime
from typing import Any

from OpenSSL import SSL
from twisted.internet import reactor
from twisted.internet.defer import Deferred, maybeDeferred
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.internet.ssl import Certificate, optionsForClientTLS
from twisted.python.failure import Failure
from twisted.trial.unittest import TestCase

from ganeti_tx.runtime.certificates import Identity, create_authority, digest, issue_client, issue_server
from ganeti_tx.runtime.tls import NodeTrust, NotTheNode, peer_digest, server_options

NOW = datetime.now(UTC)
AUTHORITY = create_authority("cluster", NOW)
SERVER = issue_server(AUTHORITY, ["node1", "127.0.0.1"], NOW)
CLIENT = issue_client(AUTHORITY, "node2", NOW)
FOREIGN_AUTHORITY = create_authority("cluster", NOW)


def client_context(identity: Identity, name: str, authority: Identity = AUTHORITY) -> IOpenSSLClientConnectionCreator:
    """What a caller of the node of that name or address uses."""
    creator: IOpenSSLClientConnectionCreator = NodeTrust(identity, authority.certificate).creatorForNetloc(
        name.encode(), 1811
    )
    return creator


class Greeter(Protocol):
    """Tells the caller the digest of the certificate it has shown."""

    def dataReceived(self, data: bytes) -> None:
        transport: Any = self.transport
        transport.write(str(peer_digest(transport)).encode())
        transport.loseConnection()


class Caller(Protocol):
    """Says a word and keeps what comes back; fails when the other end hangs up on it."""

    def __init__(self) -> None:
        self.answer: Deferred[bytes] = Deferred()
        self._received = b""

    def connectionMade(self) -> None:
        transport: Any = self.transport
        transport.write(b"hello")

    def dataReceived(self, data: bytes) -> None:
        self._received += data

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if self._received:
            self.answer.callback(self._received)
        else:
            self.answer.errback(reason)


class MutualTlsTests(TestCase):
    """Who gets through and who does not."""

    def setUp(self) -> None:
        """A server."""
        net: Any = reactor
        context = server_options(SERVER, AUTHORITY.certificate)
        port = net.listenSSL(0, Factory.forProtocol(Greeter), context, interface="127.0.0.1")
        self.port = port.getHost().port
        self.addCleanup(lambda: maybeDeferred(port.stopListening))

    async def call(self, context: IOpenSSLClientConnectionCreator) -> bytes:
        """What the server answers."""
        net: Any = reactor
        endpoint = wrapClientTLS(context, HostnameEndpoint(net, "127.0.0.1", self.port))
        caller = await endpoint.connect(Factory.forProtocol(Caller))
        assert isinstance(caller, Caller)
        return await caller.answer

    async def refused(self, context: IOpenSSLClientConnectionCreator) -> SSL.Error:
        """How the server refuses."""
        with self.assertRaises(SSL.Error) as caught:
            await self.call(context)
        return caught.exception

    def test_good(self) -> Deferred[None]:
        """A node of the cluster gets through, by name and by address, and is known by its digest."""

        async def calls() -> None:
            for name in ("node1", "127.0.0.1"):
                self.assertEqual(await self.call(client_context(CLIENT, name)), digest(CLIENT.certificate).encode())

        return Deferred.fromCoroutine(calls())

    def test_known_again(self) -> Deferred[None]:
        """A caller is known by its digest on every connection, also when the session is resumed."""

        async def calls() -> None:
            context = client_context(CLIENT, "node1")
            for _ in range(3):
                self.assertEqual(await self.call(context), digest(CLIENT.certificate).encode())

        return Deferred.fromCoroutine(calls())

    def test_foreign_client(self) -> Deferred[None]:
        """A certificate of another authority of the same name is refused."""
        foreign = issue_client(FOREIGN_AUTHORITY, "node2", NOW)

        async def calls() -> None:
            await self.refused(client_context(foreign, "node1"))

        return Deferred.fromCoroutine(calls())

    def test_server_certificate_calls(self) -> Deferred[None]:
        """A server certificate is no good for calling."""

        async def calls() -> None:
            await self.refused(client_context(SERVER, "node1"))

        return Deferred.fromCoroutine(calls())

    def test_no_client_certificate(self) -> Deferred[None]:
        """Who shows nothing is refused."""

        async def calls() -> None:
            bare = optionsForClientTLS("node1", trustRoot=Certificate.loadPEM(AUTHORITY.certificate))
            await self.refused(bare)

        return Deferred.fromCoroutine(calls())

    def test_foreign_server(self) -> Deferred[None]:
        """The caller refuses a server of another authority."""

        async def calls() -> None:
            await self.refused(client_context(CLIENT, "node1", FOREIGN_AUTHORITY))

        return Deferred.fromCoroutine(calls())

    def test_other_name(self) -> Deferred[None]:
        """The caller refuses a server with the certificate of another node."""

        async def calls() -> None:
            with self.assertRaises(NotTheNode):
                await self.call(client_context(CLIENT, "node3"))

        return Deferred.fromCoroutine(calls())
