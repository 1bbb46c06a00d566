"""What luxid and its runners tell each other over a unix socket: length-prefixed tagged values."""

from collections.abc import Callable

import msgspec
from twisted.internet.interfaces import IProtocolFactory
from twisted.internet.protocol import Factory, connectionDone
from twisted.logger import Logger
from twisted.protocols.basic import Int32StringReceiver
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.metrics.readings import Readings
from ganeti_tx.queue.job import QueuedJob

log = Logger()

#: What luxid sends a runner: a job file, and what is secret.
MAX_MESSAGE = 80 * 1024 * 1024
#: What a runner sends luxid: a few words.
MAX_REPORT = 64 * 1024


class Hello(msgspec.Struct, frozen=True, tag=True):
    """A runner introduces itself; `job_id` is the job that it is busy with, after a restart of luxid."""

    livelock: str
    process_id: int
    job_id: int | None = None


class JobOver(msgspec.Struct, frozen=True, tag=True):
    """The runner has done with the job: its file holds its end, or has it queued again without a livelock."""

    job_id: int


class Measured(msgspec.Struct, frozen=True, tag=True):
    """What the runner has counted since it last said so."""

    readings: Readings


class Stopping(msgspec.Struct, frozen=True, tag=True):
    """The runner has taken note that the job shall stop, and its file says so if an opcode runs."""

    job_id: int


class TurnOver(msgspec.Struct, frozen=True, tag=True):
    """The job is between opcodes, or did not get its locks: does anybody wait for its slot that is as urgent as this?"""

    job_id: int
    priority: int


class GoOn(msgspec.Struct, frozen=True, tag=True):
    """Nobody waits: the job keeps its slot."""


class StepBack(msgspec.Struct, frozen=True, tag=True):
    """Somebody waits: the job shall go back to the queue. Nothing has changed until its file says so."""


class RunJob(msgspec.Struct, frozen=True, tag=True):
    """Run this job, whose file names the runner's livelock; `secrets` are parameters that no file holds."""

    job: QueuedJob
    secrets: dict[int, dict[str, object]]

    def __repr__(self) -> str:
        return f"<RunJob {self.job.id}>"


class StopJob(msgspec.Struct, frozen=True, tag=True):
    """Stop at the next safe point."""


class SetPriority(msgspec.Struct, frozen=True, tag=True):
    """The opcodes that have not run yet have another priority."""

    priority: int


class Lagging(msgspec.Struct, frozen=True, tag=True):
    """For these master candidates nobody waits; the runner neither, when it sends them copies of its job."""

    names: list[str]


class Leave(msgspec.Struct, frozen=True, tag=True):
    """There is no more work: end."""


Message = (
    Hello
    | JobOver
    | Measured
    | Stopping
    | TurnOver
    | GoOn
    | StepBack
    | RunJob
    | StopJob
    | SetPriority
    | Lagging
    | Leave
)

_decoder: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


class Channel(Int32StringReceiver):
    """One end of the connection; whoever owns it sets `receive` and `lost`."""

    MAX_LENGTH = MAX_MESSAGE

    def __init__(self) -> None:
        self.receive: Callable[[Message], None] = self._unexpected
        self.lost: Callable[[], None] = lambda: None
        self.made: Callable[[], None] = lambda: None

    def tell(self, message: Message) -> None:
        """Send a message; into the void when the connection is gone."""
        if self.transport is not None and self.connected:
            self.sendString(msgspec.json.encode(message))

    def hang_up(self) -> None:
        """Close at once."""
        if self.transport is not None:
            abort = getattr(self.transport, "abortConnection", self.transport.loseConnection)
            abort()

    def connectionMade(self) -> None:
        self.made()

    def stringReceived(self, string: bytes) -> None:
        try:
            message = _decoder.decode(string)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            log.error("not a runner's message: {error}", error=error)
            self.hang_up()
            return
        self.receive(message)

    def lengthLimitExceeded(self, length: int) -> None:
        """The other side announces more than it may send."""
        log.error("a runner's message of {length} bytes; allowed are {most}", length=length, most=self.MAX_LENGTH)
        self.hang_up()

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.lost()

    def _unexpected(self, message: Message) -> None:
        log.error("a message that nobody waits for: {message}", message=message)


@implementer(IProtocolFactory)
class ChannelFactory(Factory):
    """Makes one channel a connection and shows it to its owner."""

    noisy = False

    def __init__(self, welcome: Callable[[Channel], None]) -> None:
        self._welcome = welcome

    def buildProtocol(self, addr: object) -> Channel:
        channel = Channel()
        channel.factory = self
        self._welcome(channel)
        return channel
