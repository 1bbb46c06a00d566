"""The client on Twisted; the reactor is passed in."""

from typing import Any, cast
from typing import Protocol as Structural

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.internet.error import ConnectError, ConnectionDone, ConnectionLost, DNSLookupError
from twisted.internet.interfaces import IHandshakeListener, IReactorPluggableNameResolver, IReactorTCP, IReactorTime
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.python.failure import Failure
from txaio import tx
from zope.interface import implementer

from ganeti_tx.rapi_client import connect_errors
from ganeti_tx.rapi_client.async_client import AsyncClient, Framework
from ganeti_tx.rapi_client.conversation import Conversation
from ganeti_tx.rapi_client.errors import CertificateError
from ganeti_tx.rapi_client.link import Link
from ganeti_tx.rapi_client.server import Server
from ganeti_tx.rapi_client.twisted_trust import check_certificate, connection_creator, tls_error

_tx: Any = tx  # has no types
_Endpoint: Any = HostnameEndpoint  # has no types
_with_tls: Any = wrapClientTLS  # has no types


class INetReactor(IReactorTime, IReactorTCP, IReactorPluggableNameResolver):
    """What is needed of a reactor."""


class _Wire(Structural):
    def write(self, data: bytes) -> None: ...
    def abortConnection(self) -> None: ...
    def pauseProducing(self) -> None: ...
    def resumeProducing(self) -> None: ...
    def getPeerCertificate(self) -> Any: ...


@implementer(IHandshakeListener)
class _Connection(Protocol):
    """Hands what the reactor says on to the conversation, which begins when the server is known to be the right one."""

    conversation: Conversation

    def __init__(self, reactor: IReactorTime, server: Server) -> None:
        self._reactor = reactor
        self._server = server
        self.ready: Deferred[Conversation] = Deferred(lambda _: self._wire.abortConnection())

    @property
    def _wire(self) -> _Wire:
        return cast(_Wire, self.transport)

    def connectionMade(self) -> None:
        wire = self._wire
        pause, resume = wire.pauseProducing, wire.resumeProducing
        link = Link(wire.write, wire.abortConnection, pause, resume, self._reactor.callLater, lambda: True)
        self.conversation = Conversation(_tx, link, self._server)

    def handshakeCompleted(self) -> None:
        """As IHandshakeListener says."""
        try:
            check_certificate(self._server, self._wire.getPeerCertificate())
        except CertificateError as error:
            self._wire.abortConnection()
            self.ready.errback(error)
        else:
            self.ready.callback(self.conversation)

    def dataReceived(self, data: bytes) -> None:
        self.conversation.received(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        error = None
        if not reason.check(ConnectionDone, ConnectionLost):
            told = connect_errors.lost if self.ready.called else tls_error
            error = told(self._server, reason.value)
        self.conversation.lost(error)
        if not self.ready.called:
            self.ready.errback(error or connect_errors.lost(self._server, reason.value))


class _Connections(Factory):
    """Makes the protocol of one client's connections."""

    noisy = False

    def __init__(self, reactor: IReactorTime, server: Server) -> None:
        self._reactor = reactor
        self._server = server

    def buildProtocol(self, addr: object) -> _Connection:
        return _Connection(self._reactor, self._server)


def client(reactor: INetReactor, server: Server) -> AsyncClient:
    """A client whose calls are coroutines for Twisted. @raise X509CertError: the trusted certificates cannot be read."""
    connections = _Connections(reactor, server)
    tcp = _Endpoint(reactor, server.host, server.port, timeout=server.connect_timeout)
    endpoint = _with_tls(connection_creator(server), tcp)

    async def connect() -> Conversation:
        try:
            trying = _cancellable(endpoint.connect(connections))
            connection = await trying.addTimeout(server.connect_timeout, reactor, onTimeoutCancel=too_late)
            return await connection.ready.addTimeout(server.connect_timeout, reactor, onTimeoutCancel=too_late)
        except (ConnectError, DNSLookupError) as error:
            raise connect_errors.connect_error(server, OSError(getattr(error, "osError", None), str(error))) from None

    def too_late(result: object, seconds: float) -> Any:
        raise connect_errors.connect_error(server, TimeoutError())

    async def sleep(seconds: float) -> None:
        await deferLater(reactor, seconds)

    return AsyncClient(server, Framework(connect, sleep, reactor.seconds))


def _cancellable(attempt: "Deferred[Any]") -> "Deferred[_Connection]":
    """The same, where cancelling is no failure to connect: an endpoint makes it one while it looks up an address."""

    def cancel(outcome: "Deferred[_Connection]") -> None:
        outcome.errback(CancelledError())
        attempt.cancel()

    def settle(result: Any) -> None:
        if not outcome.called:
            outcome.callback(result)

    outcome: Deferred[_Connection] = Deferred(cancel)
    attempt.addBoth(settle)
    return outcome
