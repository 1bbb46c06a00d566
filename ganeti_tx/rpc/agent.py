"""The HTTP agent that makes node calls from this node, with its keys."""

import socket
import time
from typing import Any

from attrs import define, field
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.endpoints import HostnameEndpoint, TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.web._newclient import HTTP11ClientProtocol
from twisted.web.client import URI, Agent, HTTPConnectionPool, _HTTP11ClientFactory
from twisted.web.iweb import IAgentEndpointFactory
from zope.interface import implementer

from ganeti_tx.rpc.client import CONNECT_LIMIT, HttpNodeRpc
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pinned_certificates import PinnedCertificates
from ganeti_tx.runtime.reactors import IStreamReactor
from ganeti_tx.runtime.tls import NodeTrust

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


def node_rpc(reactor: IStreamReactor, files: IFiles, paths: Paths) -> HttpNodeRpc:
    """Node calls with this node's client certificate. @raise OSError, X509CertError: its keys cannot be read."""
    identity = Identity.from_bundle(files.read(paths.client_pem, MAX_KEY_FILE), str(paths.client_pem))
    pinned = PinnedCertificates(files, paths, time.time)
    trust = NodeTrust(identity, files.read(paths.authority_pem, MAX_KEY_FILE), pinned.of)
    pool = QuietPool(reactor, persistent=True)
    pool.maxPersistentPerHost = KEPT_CONNECTIONS
    pool.cachedConnectionTimeout = KEPT_SECONDS
    pool.retryAutomatically = False
    return HttpNodeRpc(Agent.usingEndpointFactory(reactor, NodeEndpoints(reactor, trust), pool), reactor)
