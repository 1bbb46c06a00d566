"""The LUXI client on Twisted; the reactor is passed in."""

import errno
import os
from collections.abc import Callable
from typing import Any, cast
from typing import Protocol as Structural

from twisted.internet import error as twisted_errors
from twisted.internet.defer import CancelledError
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.internet.interfaces import IReactorTime
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.python.failure import Failure
from txaio import tx

from ganeti_tx.luxi.answers import result_of
from ganeti_tx.luxi.async_client import AsyncClient, Connect
from ganeti_tx.luxi.conversation import Conversation, Link
from ganeti_tx.luxi.daemon import LUXI_DAEMON, Daemon, connect_error
from ganeti_tx.luxi.framing import Message
from ganeti_tx.luxi.timeouts import CONNECT, READ_WRITE
from ganeti_tx.runtime.reactors import ISocketReactor

_tx: Any = tx  # has no types
_Endpoint: Any = UNIXClientEndpoint  # has no types


#: Makes of an answer what the asker gets.
Read = Callable[[Message], Any]


class _Wire(Structural):
    def write(self, data: bytes) -> None: ...
    def abortConnection(self) -> None: ...


class _Connection(Protocol):
    """Hands what the reactor says on to the conversation."""

    conversation: Conversation

    def __init__(self, reactor: IReactorTime, answer_timeout: float, read: Read) -> None:
        self._reactor = reactor
        self._answer_timeout = answer_timeout
        self._read = read

    def connectionMade(self) -> None:
        wire = cast(_Wire, self.transport)
        link = Link(wire.write, wire.abortConnection, self._reactor.callLater)
        self.conversation = Conversation(_tx, link, self._answer_timeout, self._read)

    def dataReceived(self, data: bytes) -> None:
        self.conversation.received(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.conversation.lost()


class _Connections(Factory):
    """Makes the protocol of one client's connections."""

    noisy = False

    def __init__(self, reactor: IReactorTime, answer_timeout: float, read: Read) -> None:
        self._reactor = reactor
        self._answer_timeout = answer_timeout
        self._read = read

    def buildProtocol(self, addr: object) -> _Connection:
        return _Connection(self._reactor, self._answer_timeout, self._read)


def connector(
    reactor: ISocketReactor,
    socket_path: str,
    *,
    daemon: Daemon = LUXI_DAEMON,
    connect_timeout: float = CONNECT,
    answer_timeout: float = READ_WRITE,
    read: Read = result_of,
) -> Connect:
    """Opens connections to a socket; time-outs in seconds. @param read: as Conversation takes it."""
    connections = _Connections(reactor, answer_timeout, read)
    endpoint = _Endpoint(reactor, socket_path, timeout=connect_timeout)

    async def connect() -> Conversation:
        try:
            connection = await endpoint.connect(connections)
        except twisted_errors.ConnectingCancelledError:
            raise CancelledError from None
        except twisted_errors.ConnectError as error:
            # The reactor tells no reason when as many wait already as the socket lets wait.
            number = errno.EAGAIN if error.osError is None else error.osError
            raise connect_error(daemon, socket_path, OSError(number, os.strerror(number))) from None
        return cast(_Connection, connection).conversation

    return connect


def client(
    reactor: ISocketReactor,
    socket_path: str,
    *,
    daemon: Daemon = LUXI_DAEMON,
    connect_timeout: float = CONNECT,
    answer_timeout: float = READ_WRITE,
) -> AsyncClient:
    """A client whose calls are coroutines for Twisted; time-outs in seconds."""
    return AsyncClient(
        connector(reactor, socket_path, daemon=daemon, connect_timeout=connect_timeout, answer_timeout=answer_timeout)
    )
