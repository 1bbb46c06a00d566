"""One connection to the Remote API: in which time requests must come and answers be read."""

from http import HTTPStatus
from typing import Any

from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure

from ganeti_tx.rapi.http.answers import farewell
from ganeti_tx.rapi.http.connections import Connections
from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.runtime.paced_channel import PacedChannel

#: Seconds for the TLS handshake and the head of the first request, and for the head of any further one.
HEAD_LIMIT = 10.0
#: Seconds that a connection may rest between two requests.
IDLE_LIMIT = 60.0
#: Seconds that a client may take to read an answer, apart from what its bytes take.
READ_LIMIT = 30.0
#: A body may take as long to come, and an answer to be read, as its bytes do at this speed, in bytes a second.
SLOWEST = 16 * 1024
#: Seconds for a client to hang up when all is said.
LINGER = 5.0


class RapiChannel(PacedChannel):
    """Has one deadline at a time. Requests that come all at once are answered one by one, as fast as they are read."""

    connections: Connections
    site: Any
    transport: Any
    address = "unknown"
    known = False
    busy = False
    since = 0.0
    deadline: float | None = None
    unread = 0
    #: The length of the answer that was written last.
    _written = 0
    _begun = False
    _ending = False

    def connectionMade(self) -> None:
        self.address = str(getattr(self.transport.getPeer(), "host", "unknown"))
        super().connectionMade()
        self._from_now(HEAD_LIMIT)
        if not self.connections.came(self):
            self.drop()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.connections.went(self)
        super().connectionLost(reason)

    def dataReceived(self, data: bytes) -> None:
        if self._ending:
            return
        if not self._begun and not self.busy:
            self._begun = True
            self._from_now(HEAD_LIMIT)
        super().dataReceived(data)

    # What the request tells

    def body_follows(self, length: int) -> None:
        """The head is there, and so many bytes are to come."""
        self._from_now(HEAD_LIMIT + length / SLOWEST)

    def came_whole(self) -> None:
        """The request is there and is being carried out."""
        self.busy = True
        self._from_now(None)

    def answering(self, length: int) -> None:
        """So many bytes are written now."""
        self._written = length

    def requestDone(self, request: Any) -> None:
        """As HTTPChannel says."""
        self.busy = False
        if self._ending:
            return self.requests.remove(request)
        self._begun = bool(self._dataBuffer)
        if not self.unread:
            self._from_now(HEAD_LIMIT if self._begun else IDLE_LIMIT)
        super().requestDone(request)

    def refuse(self, error: HttpError) -> None:
        """Say why no more is read, and hang up."""
        self.site.access_log.refused(self.address, error.status)
        self.transport.write(farewell(error))
        self.loseConnection()

    def loseConnection(self) -> None:
        """Hang up when all is read, or the client has had its time for that."""
        self._ending = self.paused = True
        self.clearLineBuffer()
        self._from_now(LINGER + self.unread / SLOWEST)
        super().loseConnection()

    def _send100Continue(self) -> None:
        if not self._ending:  # else the body was refused already
            super()._send100Continue()

    def lineLengthExceeded(self, line: bytes) -> None:
        """As LineReceiver says."""
        self._respondToBadRequestAndDisconnect()

    def _respondToBadRequestAndDisconnect(self) -> None:
        self.refuse(HttpError(HTTPStatus.BAD_REQUEST, "this is no HTTP request that can be read"))

    # What the transport tells about our writing

    def pauseProducing(self) -> None:
        """The client reads slower than we write: nothing more is read, begun or sent."""
        super().pauseProducing()
        self.unread = max(1, self._written)
        self._from_now(READ_LIMIT + self.unread / SLOWEST)
        self.connections.waits_for_reader()

    def resumeProducing(self) -> None:
        """The client has read what there was."""
        self.unread = 0
        self._from_now(LINGER if self._ending else None if self.busy else IDLE_LIMIT)
        super().resumeProducing()

    # What the connections tell

    def time_is_over(self) -> None:
        """As Client says."""
        if self._ending or self.unread:
            self.connections.tell("{address} took too long and is dropped", address=self.address)
            return self.drop()
        if self._begun:
            return self.refuse(HttpError(HTTPStatus.REQUEST_TIMEOUT))
        self.loseConnection()

    def leave(self) -> None:
        """As Client says."""
        if self.busy:
            self.persistent = 0
        else:
            self.loseConnection()

    def drop(self) -> None:
        """As Client says."""
        self._ending = self.paused = True
        self.deadline = None
        self.transport.abortConnection()

    def _from_now(self, seconds: float | None) -> None:
        self.since = self.connections.clock.seconds()
        self.deadline = None if seconds is None else self.since + seconds
