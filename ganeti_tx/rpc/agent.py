"""The HTTP agent that makes node calls from this node, with its keys."""

import socket
import time
from typing import Any

from attrs import define, field
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.endpoints import HostnameEndpoint, TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.logger import Logger
from twisted.web._newclient import HTTP11ClientProtocol
from twisted.web.client import URI, Agent, HTTPConnectionPool, _HTTP11ClientFactory
from twisted.web.iweb import IAgent, IAgentEndpointFactory
from zope.interface import implementer

from ganeti_tx.errors import X509CertError
from ganeti_tx.rpc.client import CONNECT_LIMIT, HttpNodeRpc
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pinned_certificates import PinnedCertificates
from ganeti_tx.runtime.reactors import IStreamReactor
from ganeti_tx.runtime.tls import NodeTrust

log = Logger()

MAX_KEY_FILE = 64 * 1024
#: Connections to one node kept open, and seconds that an unused one stays.
KEPT_CONNECTIONS = 4
KEPT_SECONDS = 60


#: A node from which nothing is heard for so many seconds is asked for a sign of life, so often and so many times. One that has
#: booted meanwhile says at the first that it knows nothing of the connection, which is not used for a call then.
SILENCE = 5
SIGN_INTERVAL = 5
SIGNS = 11
#: Milliseconds until what was sent must have arrived: the kernel asks for no life while something is under way.
ARRIVAL_LIMIT = 1000 * (SILENCE + SIGNS * SIGN_INTERVAL)


class WatchfulProtocol(HTTP11ClientProtocol):
    """Finds out that a machine is gone: one that lost its power says nothing, and some calls may take a day."""

    def connectionMade(self) -> None:
        super().connectionMade()
        ask_for_life(self.transport)


def ask_for_life(transport: Any) -> None:
    """Have the kernel ask the other end for signs of life when it is silent; the connection breaks when there are none.

    It breaks as well when what is sent does not arrive: a call on a connection that was kept open may be the first to notice.
    """
    transport.setTcpKeepAlive(True)
    found: socket.socket = transport.socket
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, SILENCE)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, SIGN_INTERVAL)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, SIGNS)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, ARRIVAL_LIMIT)


class QuietFactory(_HTTP11ClientFactory):
    """Does not write into the log that it starts and stops, for each connection."""

    noisy = False

    def buildProtocol(self, addr: object) -> HTTP11ClientProtocol:
        return WatchfulProtocol(self._quiescentCallback)


class QuietPool(HTTPConnectionPool):
    """Connections without noise; Twisted has no other way to choose their factory."""

    _factory = QuietFactory


@implementer(IAgentEndpointFactory)
@define
class NodeEndpoints:
    """The way to each node, made once: an agent asks for it with every call, also when it is connected already."""

    reactor: IStreamReactor
    trust: NodeTrust
    _made: dict[tuple[bytes, int], Any] = field(factory=dict)

    def endpointForURI(self, uri: URI) -> Any:
        """As the interface says."""
        key = (uri.host, uri.port)
        if key not in self._made:
            self._made[key] = wrapClientTLS(self.trust.creatorForNetloc(*key), self._way_to(*key))
        return self._made[key]

    def _way_to(self, host: bytes, port: int) -> Any:
        """Nobody is asked, in a thread, what an address means."""
        name = host.decode("ascii").strip("[]")
        if isIPAddress(name):
            return TCP4ClientEndpoint(self.reactor, name, port, timeout=CONNECT_LIMIT)
        if isIPv6Address(name):
            return TCP6ClientEndpoint(self.reactor, name, port, timeout=CONNECT_LIMIT)
        return HostnameEndpoint(self.reactor, name, port, timeout=CONNECT_LIMIT)


@implementer(IAgent)
@define(eq=False)
class NodeAgent:
    """Makes calls with the keys of this node that are newest by then: they are replaced while it runs.

    @raise OSError, X509CertError: at first they cannot be read; later those of before stay.
    """

    reactor: IStreamReactor
    files: IFiles
    paths: Paths
    _pinned: PinnedCertificates = field(init=False)
    _seen: tuple[FileStat, ...] = field(init=False)
    _pool: HTTPConnectionPool = field(init=False)
    _agent: Agent = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._pinned = PinnedCertificates(self.files, self.paths, time.time)
        self._seen = self._stat()
        self._load()

    def request(self, *args: Any, **named: Any) -> Any:
        """As IAgent says."""
        try:
            if (now := self._stat()) != self._seen:
                self._seen = now
                self.start_anew()
        except (OSError, X509CertError) as error:
            if isinstance(error, OSError):
                self._seen = ()  # perhaps for want of open files: the next time they may be readable
            log.error("the keys of before are kept: {error}", error=str(error))
        return self._agent.request(*args, **named)

    def start_anew(self) -> None:
        """Use no connection that is there for a call that comes; calls under way go on."""
        former = self._pool
        self._load()
        former.cachedConnectionTimeout = 0  # of those that are in use
        former.closeCachedConnections()

    def _stat(self) -> tuple[FileStat, ...]:
        return tuple(self.files.stat(path) for path in (self.paths.client_pem, self.paths.authority_pem))

    def _load(self) -> None:
        own = self.paths.client_pem
        identity = Identity.from_bundle(self.files.read(own, MAX_KEY_FILE), str(own))
        trust = NodeTrust(identity, self.files.read(self.paths.authority_pem, MAX_KEY_FILE), self._pinned.of)
        self._pool = QuietPool(self.reactor, persistent=True)
        self._pool.maxPersistentPerHost = KEPT_CONNECTIONS
        self._pool.cachedConnectionTimeout = KEPT_SECONDS
        self._pool.retryAutomatically = False
        self._agent = Agent.usingEndpointFactory(self.reactor, NodeEndpoints(self.reactor, trust), self._pool)


def node_rpc(reactor: IStreamReactor, files: IFiles, paths: Paths) -> HttpNodeRpc:
    """Node calls with this node's client certificate. @raise OSError, X509CertError: its keys cannot be read."""
    agent = NodeAgent(reactor, files, paths)
    return HttpNodeRpc(agent, reactor, start_anew=agent.start_anew)
