"""A datagram in, a datagram or silence out."""

from collections.abc import Callable, Sequence

from attrs import define
from twisted.internet.protocol import DatagramProtocol

from ganeti_tx.confd.answers import IAnswers
from ganeti_tx.confd.codec import Envelope, Key, decode_request, envelope_of, in_time, sign
from ganeti_tx.confd.messages import MAGIC
from ganeti_tx.errors import GanetiError


@define
class Present:
    """What requests are answered with; whoever follows the files puts newer things here."""

    key: Key
    answers: IAnswers
    #: What is accepted besides, while the key is replaced.
    others: Sequence[Key] = ()

    def signer(self, envelope: Envelope) -> Key | None:
        """The key with which a request was signed; the reply is signed with the same."""
        return next((key for key in (self.key, *self.others) if key.signed(envelope)), None)


def respond(present: Present, datagram: bytes, now: float) -> bytes | None:
    """The reply to a request at a time (seconds since the epoch).

    None is for everything that no holder of the key has made now: it is not answered, so that nobody learns anything,
    and costs no more than it takes to see that.
    """
    try:
        envelope = envelope_of(datagram)
        if not in_time(envelope.salt, now) or (key := present.signer(envelope)) is None:
            return None
        request = decode_request(envelope.msg)
    except GanetiError:
        return None
    body = present.answers.body(request.type, bytes(request.query))
    return None if body is None else sign(key, body, request.rsalt)


class ConfdProtocol(DatagramProtocol):
    """Answers datagrams; keeps nothing between two."""

    noisy = False

    def __init__(self, present: Present, now: Callable[[], float]) -> None:
        """@param now: the time in seconds since the epoch."""
        self._present = present
        self._now = now

    def datagramReceived(self, datagram: bytes, addr: tuple[str, int]) -> None:
        """Called by the transport for each."""
        if datagram.startswith(MAGIC):  # most of what is not for us ends here
            reply = respond(self._present, datagram, self._now())
            if reply is not None and self.transport is not None:
                self.transport.write(reply, addr)
