"""One question put to several peers at once: which answers count, when they are enough, and which one is the newest."""

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from attrs import define, field, frozen

from ganeti_tx.confd.codec import Body, Key, check_signature, decode_reply, envelope_of, sign
from ganeti_tx.confd.messages import MAX_REQUEST, ErrorCode, Reply, Request, Status
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError, GanetiError, UdpDataSizeError

T = TypeVar("T")

#: At most so many peers are asked (Ganeti 3.0 confd table).
COVERAGE = 6
#: Seconds after which a question has failed (as there).
EXPIRY = 10.0
#: Why a server may say nothing; it never tells.
SILENCE = "it is down or out of reach, its key is another one, or a clock is wrong by five minutes"
#: What a server makes of a question that it cannot read, or of a place that there is not; it tells no more.
WRONG_QUESTION = "the question is wrong: no such place, or not what this request takes"
#: Seconds after which those who are silent are asked again: a datagram may get lost.
ASK_AGAIN = (0.5, 2.0)


class Peer(NamedTuple):
    """Where a configuration daemon listens; the host is an IP address in its shortest form."""

    host: str
    port: int


@frozen
class Answer(Generic[T]):
    """The newest answer, and how sure it is."""

    value: T
    #: Of what the answer was taken from; 0 where the server gives none.
    serial: int
    #: Who gave this very answer.
    peers: tuple[Peer, ...]
    #: Who gave another with the same serial number.
    conflicting: tuple[Peer, ...] = ()


def needed(asked: int) -> int:
    """How many answers are enough (Ganeti 3.0 confd table)."""
    if asked < 3:
        return asked
    return asked - 1 if asked < 5 else asked // 2 + 1


@define
class Poll:
    """What was asked of whom under which salt, and who has answered; the first answer of each counts."""

    key: Key
    question: Question[Any]
    rsalt: str
    peers: Sequence[Peer]
    #: Seconds after which nobody waits any more.
    expiry: float
    replies: dict[Peer, Reply] = field(factory=dict, init=False)

    def datagram(self, now: float) -> bytes:
        """What to send, at a time in seconds since the epoch. @raise UdpDataSizeError: no server would read all."""
        body = Body.of(Request(self.question.type, self.rsalt, self.question.query))
        datagram = sign(self.key, body, f"{int(now)}")
        if len(datagram) > MAX_REQUEST:
            raise UdpDataSizeError(f"the question has {len(datagram)} bytes, allowed are {MAX_REQUEST}")
        return datagram

    def silent(self) -> list[Peer]:
        """Who has not answered."""
        return [peer for peer in self.peers if peer not in self.replies]

    def enough(self) -> bool:
        """Whether there is nothing more to wait for."""
        return len(self.replies) >= needed(len(self.peers))

    def take(self, reply: Reply, peer: Peer) -> None:
        """A reply with our salt and a right signature; from whom was not asked it does not count."""
        if peer in self.peers:
            self.replies.setdefault(peer, reply)

    def newest(self) -> Reply:
        """The reply that counts: of the highest serial number. @raise ConfdClientError: nobody has answered."""
        if not self.replies:
            hosts = ", ".join(sorted(each.host for each in self.peers))
            raise ConfdClientError(f"no answer within {self.expiry:g} s from {hosts}; {SILENCE}")
        return max(self.replies.values(), key=rank)

    def givers(self, wanted: Reply) -> tuple[Peer, ...]:
        """Who has given this reply."""
        return tuple(peer for peer, reply in self.replies.items() if reply == wanted)

    def conflicting(self) -> tuple[Peer, ...]:
        """Who has given another answer than the newest, with the same serial number."""
        newest = self.newest()
        rivals = {peer: reply for peer, reply in self.replies.items() if reply.serial == newest.serial}
        return tuple(peer for peer, reply in rivals.items() if reply != newest and not is_refusal(reply))

    def undecided(self) -> bool:
        """Whether the serial numbers do not tell which answer is the newest."""
        if not self.replies:
            return False
        newest = self.newest()
        others = (reply for reply in self.replies.values() if reply != newest)
        return any(reply.serial == newest.serial or is_refusal(reply) for reply in others)


def rank(reply: Reply) -> tuple[int, bool]:
    """The higher, the more a reply counts."""
    return reply.serial, reply.status == Status.OK


def is_refusal(reply: Reply) -> bool:
    """Whether it is an error without a serial number, which tells nothing of how new it is."""
    return reply.status != Status.OK and reply.serial == 0


def signed_reply(key: Key, datagram: bytes) -> tuple[str, Reply] | None:
    """The salt and the reply in a datagram; None for what no server of ours has sent."""
    try:
        envelope = envelope_of(datagram)
        check_signature(key, envelope)
        return envelope.salt, decode_reply(envelope.msg)
    except GanetiError:
        return None


def no_socket(error: OSError | None) -> ConfdClientError:
    """Nothing could be sent to anybody."""
    return ConfdClientError(f"no socket to ask with: {(error and error.strerror) or error}")


def value_of(question: Question[T], reply: Reply) -> T:
    """What a reply says. @raise ConfdClientError: it is an error, or no answer to the question."""
    if reply.status != Status.OK:
        raise ConfdClientError(error_text(reply))
    try:
        return question.read(reply.answer)
    except msgspec.ValidationError as error:
        raise ConfdClientError(f"not an answer to {question.type.name}: {error}") from None


def error_text(reply: Reply) -> str:
    """An error reply in words."""
    if reply.status == Status.NOT_IMPLEMENTED:
        return "the server does not know this request"
    match reply.answer:
        case ErrorCode.UNKNOWN_ENTRY:
            return "the cluster knows no such thing"
        case ErrorCode.ARGUMENT:
            return WRONG_QUESTION
        case ErrorCode.INTERNAL:
            return "the server failed at this question"
        case str(text):
            return text
    return f"error {reply.answer!r}"
