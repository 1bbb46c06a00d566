"""Signed datagrams: the bytes on the wire and what they hold. Pure; everything from outside is bounded and checked."""

import hmac

import msgspec
from attrs import frozen

from ganeti_tx.confd.messages import MAGIC, MAX_CLOCK_SKEW, Reply, Request
from ganeti_tx.errors import ConfdMagicError, ConfigurationError, ParseError, SignatureError

#: What a decoder raises for bytes that are not what they should be, however deeply they are nested.
MALFORMED = (msgspec.DecodeError, UnicodeError, RecursionError)
#: A time in seconds has no more digits than that until the year 33658.
MAX_TIME_DIGITS = 12


class Envelope(msgspec.Struct, frozen=True):
    """A signed message: the signature is of the salt followed by the message."""

    msg: str
    salt: str
    hmac: str


ENVELOPE = msgspec.json.Decoder(Envelope)
REQUEST = msgspec.json.Decoder(Request)
REPLY = msgspec.json.Decoder(Reply)
ENCODER = msgspec.json.Encoder()
encode = ENCODER.encode


class Key:
    """The key that all of a cluster share; every byte of its file counts, also a final newline."""

    def __init__(self, raw: bytes) -> None:
        """@raise ConfigurationError: no key at all."""
        if not raw.strip():
            raise ConfigurationError("the key is empty")
        self._keyed = hmac.new(raw, digestmod="sha1")

    def signature(self, salt: bytes, msg: bytes) -> bytes:
        """In hexadecimal digits."""
        keyed = self._keyed.copy()
        keyed.update(salt + msg)
        return keyed.hexdigest().encode()

    def signed(self, envelope: Envelope) -> bool:
        """Whether a holder of this key made it; takes as long for a wrong signature as for a right one."""
        own = self.signature(envelope.salt.encode(), envelope.msg.encode())
        return hmac.compare_digest(own, envelope.hmac.encode())


@frozen
class Body:
    """A message that can be signed many times: its bytes, and the same as a JSON string."""

    msg: bytes
    text: bytes

    @classmethod
    def of(cls, message: Request | Reply) -> "Body":
        """Encode a message."""
        msg = encode(message)
        return cls(msg, encode(msg.decode()))


def sign(key: Key, body: Body, salt: str) -> bytes:
    """The datagram."""
    return b'%b{"msg":%b,"salt":%b,"hmac":"%b"}' % (
        MAGIC,
        body.text,
        encode(salt),
        key.signature(salt.encode(), body.msg),
    )


def envelope_of(datagram: bytes) -> Envelope:
    """What a datagram holds, not checked yet. @raise ConfdMagicError, ParseError: it is no signed message."""
    if not datagram.startswith(MAGIC):
        raise ConfdMagicError(f"a datagram begins with {MAGIC!r}, not {datagram[: len(MAGIC)]!r}")
    try:
        return ENVELOPE.decode(memoryview(datagram)[len(MAGIC) :])
    except MALFORMED as error:
        raise ParseError(f"not a signed message: {error}") from None


def check_signature(key: Key, envelope: Envelope) -> None:
    """@raise SignatureError: the holder of another key made it, or nobody's."""
    if not key.signed(envelope):
        raise SignatureError("the signature is not of this cluster's key")


def in_time(salt: str, now: float) -> bool:
    """Whether a request's salt is a time near enough to now (both in seconds since the epoch)."""
    if not (salt.isascii() and salt.isdigit() and len(salt) <= MAX_TIME_DIGITS):
        return False
    return abs(now - int(salt)) <= MAX_CLOCK_SKEW


def decode_request(msg: str) -> Request:
    """@raise ParseError: it is none."""
    try:
        return REQUEST.decode(msg)
    except MALFORMED as error:
        raise ParseError(f"not a request: {error}") from None


def decode_reply(msg: str) -> Reply:
    """@raise ParseError: it is none."""
    try:
        return REPLY.decode(msg)
    except MALFORMED as error:
        raise ParseError(f"not a reply: {error}") from None
