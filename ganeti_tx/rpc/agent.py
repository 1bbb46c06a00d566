"""What makes node calls from this node, with its keys."""

import time
from typing import Any

from attrs import define, field
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.endpoints import HostnameEndpoint, TCP4ClientEndpoint, TCP6ClientEndpoint
from twisted.internet.error import ConnectingCancelledError
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.internet.protocol import Factory
from twisted.logger import Logger
from twisted.protocols.tls import TLSMemoryBIOFactory, TLSMemoryBIOProtocol
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.errors import X509CertError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.rpc.client import CONNECT_LIMIT, HttpNodeRpc
from ganeti_tx.rpc.http.answer import Answer
from ganeti_tx.rpc.http.connection import ARRIVES_WITHIN, NodeConnection
from ganeti_tx.rpc.http.errors import Unheard
from ganeti_tx.rpc.http.head import request
from ganeti_tx.rpc.http.interfaces import INodeAgent
from ganeti_tx.rpc.http.kept import KeptConnections, Place
from ganeti_tx.rpc.wire import CONTENT_TYPE
from ganeti_tx.runtime.certificates import Identity
from ganeti_tx.runtime.files import FileStat, IFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pinned_certificates import PinnedCertificates
from ganeti_tx.runtime.reactors import IStreamReactor
from ganeti_tx.runtime.tls import NodeTrust

log = Logger()

MAX_KEY_FILE = 64 * 1024


class TlsFactory(TLSMemoryBIOFactory):
    """A request goes out in one piece as it is: to wait for more that could go out with it would take a turn of the reactor."""

    protocol = TLSMemoryBIOProtocol


@define(eq=False)
class Ways:
    """The ways to all nodes that one set of keys opens, and the connections that are kept on them."""

    reactor: IStreamReactor
    trust: NodeTrust
    kept: KeptConnections
    arrives_within: float = field(default=ARRIVES_WITHIN, init=False)
    _made: dict[Place, IStreamClientEndpoint] = field(factory=dict, init=False)

    def connect(self, place: Place) -> "Deferred[NodeConnection]":
        """A new connection, on which the handshake may still be under way."""
        host, port = place
        creator = self.trust.creatorForNetloc(host.encode("ascii"), port)
        plain = Factory.forProtocol(
            lambda: NodeConnection(
                lambda connection: self.kept.keep(place, connection),
                lambda connection: self.kept.forget(place, connection),
                self.reactor,
                self.arrives_within,
            )
        )
        plain.noisy = False
        connecting: Deferred[Any] = self._way_to(place).connect(TlsFactory(creator, True, plain, self.reactor))
        return connecting.addCallbacks(lambda tls: tls.wrappedProtocol, given_up)

    def _way_to(self, place: Place) -> IStreamClientEndpoint:
        """Nobody is asked, in a thread, what an address means."""
        if (known := self._made.get(place)) is not None:
            return known
        host, port = place
        kind = (
            TCP4ClientEndpoint if isIPAddress(host) else TCP6ClientEndpoint if isIPv6Address(host) else HostnameEndpoint
        )
        made = self._made[place] = kind(self.reactor, host, port, timeout=CONNECT_LIMIT)
        return made


def given_up(failure: Failure) -> Failure:
    """Who cancels hears that it was cancelled, whatever was under way."""
    return Failure(CancelledError()) if failure.check(ConnectingCancelledError) else failure


@implementer(INodeAgent)
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
    #: Whether the keys have been looked at in this turn of the reactor, in which many calls may go out.
    _looked: bool = field(default=False, init=False)
    _ways: Ways = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._pinned = PinnedCertificates(self.files, self.paths, time.time)
        self._seen = self._stat()
        self._load()

    def ask(self, host: str, port: int, name: str, body: bytes, limit: int) -> "Deferred[Answer]":
        """As INodeAgent says."""
        self._look()
        place = (host, port)
        head = request(f"/{name}", host_port(host, port), CONTENT_TYPE, len(body))
        if (connection := self._ways.kept.take(place)) is not None:
            return connection.ask(head, body, limit).addErrback(self._unheard, place)
        return self._ways.connect(place).addCallback(lambda made: made.ask(head, body, limit))

    def _unheard(self, failure: Failure, place: Place) -> Failure:
        """Who calls next shall not wait for another connection of before: a new one tells sooner, or works."""
        if failure.check(Unheard):
            self._ways.kept.close_all_to(place)
        return failure

    def start_anew(self) -> None:
        """As INodeAgent says."""
        former = self._ways
        self._load()
        former.kept.close()

    def close(self) -> None:
        """Close what nobody uses."""
        self._ways.kept.close()

    def _look(self) -> None:
        """Take other keys, if there are others."""
        if self._looked:
            return
        self._looked = True
        self.reactor.callLater(0, self._turn_over)
        try:
            if (now := self._stat()) != self._seen:
                self._seen = now
                self.start_anew()
        except (OSError, X509CertError) as error:
            if isinstance(error, OSError):
                self._seen = ()  # perhaps for want of open files: the next time they may be readable
            log.error("the keys of before are kept: {error}", error=str(error))

    def _turn_over(self) -> None:
        self._looked = False

    def _stat(self) -> tuple[FileStat, ...]:
        return tuple(self.files.stat(path) for path in (self.paths.client_pem, self.paths.authority_pem))

    def _load(self) -> None:
        own = self.paths.client_pem
        identity = Identity.from_bundle(self.files.read(own, MAX_KEY_FILE), str(own))
        trust = NodeTrust(identity, self.files.read(self.paths.authority_pem, MAX_KEY_FILE), self._pinned.of)
        self._ways = Ways(self.reactor, trust, KeptConnections(self.reactor))


def node_rpc(reactor: IStreamReactor, files: IFiles, paths: Paths) -> HttpNodeRpc:
    """Node calls with this node's client certificate. @raise OSError, X509CertError: its keys cannot be read."""
    return HttpNodeRpc(NodeAgent(reactor, files, paths), reactor)
