"""Unix sockets and their byte streams, in memory."""

import errno
import os
from typing import Any

from attrs import define, field
from twisted.internet.address import UNIXAddress
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import ConnectError, ConnectionDone, ConnectionLost
from twisted.internet.interfaces import IConnector, ITransport
from twisted.internet.protocol import ClientFactory
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.test.inprocess.simulation import Process

#: Seconds that bytes take on this machine.
LATENCY = 0.0001


@implementer(ITransport)
@define(eq=False)
class Stream:
    """One end of a connection. What is written arrives a moment later, in order, while both processes live."""

    process: Process
    protocol: Any = None
    peer: "Stream | None" = None
    disconnecting: bool = False
    _closed: bool = False
    _paused: bool = False
    _under_way: list[bytes | Failure] = field(factory=list)
    _arrived: list[bytes | Failure] = field(factory=list)

    def write(self, data: bytes) -> None:
        """See ITransport."""
        if self._usable and data:
            self._tell_peer(bytes(data))

    def writeSequence(self, data: Any) -> None:
        """See ITransport."""
        self.write(b"".join(data))

    def loseConnection(self) -> None:
        """See ITransport: the peer gets what was written before."""
        self.disconnecting = True
        self._close(Failure(ConnectionDone()), Failure(ConnectionDone()))

    def abortConnection(self) -> None:
        """See ITCPTransport."""
        self._close(Failure(ConnectionLost()), Failure(ConnectionLost()))

    def getPeer(self) -> UNIXAddress:
        """See ITransport."""
        return UNIXAddress("")

    def getHost(self) -> UNIXAddress:
        """See ITransport."""
        return UNIXAddress("")

    def pauseProducing(self) -> None:
        """Keep what arrives."""
        self._paused = True

    def resumeProducing(self) -> None:
        """Hand over what has arrived and will."""
        self._paused = False
        self.process.callLater(0, self._hand_over)

    def registerProducer(self, producer: Any, streaming: bool) -> None:
        """There is room for everything that is written, so nobody is ever paused."""

    def unregisterProducer(self) -> None:
        """See registerProducer."""

    @property
    def _usable(self) -> bool:
        return self.process.alive and not self._closed

    def _close(self, here: Failure, there: Failure) -> None:
        if self._usable:
            self._closed = True
            self._tell_peer(there)
            self.process.callLater(0, self._lost, here)

    def break_off(self) -> None:
        """The process has died: its peer gets what was written before, and then hears of it."""
        if not self._closed:
            self._closed = True
            self._tell_peer(Failure(ConnectionLost()))

    def sever(self) -> None:
        """The connection breaks; what is under way is lost."""
        assert self.peer is not None
        for end in (self, self.peer):
            if not end._closed:
                end._closed = True
                end.process.callLater(0, end._lost, Failure(ConnectionLost()))

    def _tell_peer(self, what: bytes | Failure) -> None:
        assert self.peer is not None
        for piece in self.process.time.cut(what) if isinstance(what, bytes) else [what]:
            self.peer._under_way.append(piece)
            self.peer.process.arrive(LATENCY, self.peer._arrive)

    def _arrive(self) -> None:
        """However long each took, the first that was sent is the first to come."""
        self._arrived.append(self._under_way.pop(0))
        self._hand_over()

    def _hand_over(self) -> None:
        while self._arrived and not self._closed and not self._paused:
            what = self._arrived.pop(0)
            if isinstance(what, Failure):
                self._closed = True
                self._lost(what)
            elif self.protocol is not None:
                self.protocol.dataReceived(what)

    def _lost(self, reason: Failure) -> None:
        if self in self.process.streams:
            self.process.streams.remove(self)
        if self.protocol is not None:
            self.protocol.connectionLost(reason)


@implementer(IConnector)
@define(eq=False)
class Connector:
    """One attempt to connect."""

    path: str
    factory: ClientFactory
    given_up: bool = False

    def stopConnecting(self) -> None:
        """See IConnector."""
        self.given_up = True

    def disconnect(self) -> None:
        """See IConnector."""
        self.given_up = True

    def connect(self) -> None:
        """See IConnector; each attempt here is made once."""
        raise NotImplementedError("an attempt cannot be made again")

    def getDestination(self) -> UNIXAddress:
        """See IConnector."""
        return UNIXAddress(self.path)


@define(eq=False)
class Listening:
    """A socket that somebody listens on."""

    sockets: "Sockets"
    process: Process
    path: str
    factory: Any

    def stopListening(self) -> "Deferred[None]":
        """See IListeningPort."""
        if self.sockets.listening.get(self.path) is self:
            del self.sockets.listening[self.path]
        return succeed(None)


@define(eq=False)
class Sockets:
    """The unix sockets of one machine."""

    listening: dict[str, Listening] = field(factory=dict)

    def listen(self, process: Process, path: str, factory: Any) -> Listening:
        """Take connections, also in the place of somebody who has gone."""
        self.listening[path] = Listening(self, process, path, factory)
        return self.listening[path]

    def connect(self, process: Process, path: str, factory: ClientFactory) -> Connector:
        """Connect, or let the factory know why not, a moment later."""
        connector = Connector(path, factory)
        factory.doStart()
        factory.startedConnecting(connector)
        process.arrive(LATENCY, self._attempt, process, connector)
        return connector

    def _attempt(self, process: Process, connector: Connector) -> None:
        if connector.given_up:
            return
        listening = self.listening.get(connector.path)
        if listening is None:
            error = ConnectError(errno.ENOENT, os.strerror(errno.ENOENT))
            connector.factory.clientConnectionFailed(connector, Failure(error))
            return
        near, far = Stream(process), Stream(listening.process)
        near.peer, far.peer = far, near
        for stream, factory in ((far, listening.factory), (near, connector.factory)):
            stream.protocol = factory.buildProtocol(UNIXAddress(connector.path))
            stream.process.streams.append(stream)
        for stream in (far, near):
            assert stream.protocol is not None
            stream.protocol.makeConnection(stream)

    def process_died(self, process: Process) -> None:
        """Break its connections; nobody answers on its sockets any more."""
        for path in [path for path, listening in self.listening.items() if listening.process is process]:
            del self.listening[path]
        for stream in process.streams:
            stream.break_off()
