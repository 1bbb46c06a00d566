"""What a server of LUXI's kind takes from all its clients together, and from each."""

from attrs import frozen

from ganeti_tx.luxi.framing import MAX_REQUEST
from ganeti_tx.luxi.timeouts import SERVER_FRAME, SERVER_IDLE

MIB = 1024 * 1024


@frozen(kw_only=True)
class Limits:
    """Sizes are in bytes, times in seconds.

    @ivar request: of one request.
    @ivar connections: open at a time.
    @ivar waiting, waiting_size: requests that may be queued behind the one being answered; only then does reading stop.
        Up to there it goes on, since a server that does not read does not see that the client has gone away.
    @ivar requests_size: of all requests together, unfinished ones and what they become once read.
    @ivar answers_size: of all answers that are written and not yet read by their clients.
    @ivar idle: without a request. @ivar frame: from a request's first byte to its last.
    @ivar unread: for a client to take an answer.
    @ivar burst: of work for one process, after which it has to pause while others are connected.
    @ivar place: for which a connection that has been served keeps its place when others want it.
    """

    request: int = MAX_REQUEST
    connections: int = 512
    waiting: int = 16
    waiting_size: int = MIB
    requests_size: int = 40 * MIB
    answers_size: int = 128 * MIB
    idle: float = SERVER_IDLE
    frame: float = SERVER_FRAME
    unread: float = SERVER_IDLE
    burst: float = 0.2
    place: float = 5.0
