"""Signed datagrams, whatever comes."""

import hashlib
import hmac
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.confd import messages
from ganeti_tx.confd.codec import (
    Body,
    Envelope,
    Key,
    check_signature,
    decode_reply,
    decode_request,
    encode,
    envelope_of,
    in_time,
    sign,
)
from ganeti_tx.confd.messages import MAGIC, MAX_CLOCK_SKEW, MAX_DATAGRAM, MAX_MESSAGE, MAX_REQUEST, Reply, Request
from ganeti_tx.errors import ConfdMagicError, ConfigurationError, GanetiError, ParseError, SignatureError
from ganeti_tx.test.confd.cases import KEY, NOW, RAW_KEY, request

FACTS = json.loads(Path(__file__).with_name("facts").joinpath("confd.json").read_text())
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
#: What JSON decoders have choked on.
NASTY = (
    b"",
    b"{}",
    b"null",
    b"[" * 4000,
    b'{"msg":' + b"[" * 4000,
    b'{"x":' + b'{"y":' * 700 + b"1" + b"}" * 701,
    b'{"msg":"{}","salt":"1"}',
    b'{"msg":1,"salt":"1","hmac":""}',
    b'{"msg":"\\ud800","salt":"1","hmac":""}',
    b'{"msg":"\xff","salt":"1","hmac":""}',
    b'{"msg":"{}","salt":"1","hmac":""} x',
    b"1" * 4000,
    b"-1e99999",
    b"\x00" * 100,
)


class FactTests(SynchronousTestCase):
    """The numbers of the wire."""

    def test_framing(self) -> None:
        """The fourcc, the port, the window and the largest request are Ganeti's."""
        self.assertEqual(MAGIC.decode(), FACTS["framing"]["magic"])
        self.assertEqual(messages.PORT, FACTS["transport"]["port"])
        self.assertEqual(MAX_REQUEST, FACTS["transport"]["max_datagram_read"])
        self.assertEqual(set(FACTS["framing"]["signed_message_keys"]), set(Envelope.__struct_fields__))

    def test_codes(self) -> None:
        """Request types, roles, statuses and error codes have Ganeti's numbers."""
        requests = {f"{kind:d} {kind.name}" for kind in messages.RequestType}
        self.assertEqual(requests, set(FACTS["requests"]))
        self.assertEqual({role.name.lower(): role for role in messages.NodeRole}, FACTS["node_roles"] | ROLES_ONLY)
        self.assertEqual({each.name.lower(): each for each in messages.Status}, FACTS["reply"]["statuses"])
        codes = {each.name.lower(): each for each in messages.ErrorCode}
        self.assertEqual(codes, FACTS["reply"]["error_codes_in_answer"])

    def test_bytes(self) -> None:
        """A datagram is as a program that knows only the description makes it."""
        body = Body.of(Request(1, "salt of ours"))
        msg = body.msg.decode()
        signature = hmac.new(RAW_KEY, (f"{int(NOW)}" + msg).encode(), hashlib.sha1).hexdigest()
        datagram = sign(KEY, body, f"{int(NOW)}")
        self.assertEqual(datagram[:4], b"plj0")
        self.assertEqual(json.loads(datagram[4:]), {"msg": msg, "salt": f"{int(NOW)}", "hmac": signature})
        self.assertEqual(json.loads(msg), {"type": 1, "rsalt": "salt of ours", "query": None, "protocol": 1})

    def test_foreign_bytes(self) -> None:
        """The example of the design is read, with its spaces and its final newline."""
        msg = '{"type": 1, \n"rsalt": "9aa6ce92", "protocol": 1, "query": ""}\n'
        signature = hmac.new(RAW_KEY, ("1249637704" + msg).encode(), hashlib.sha1).hexdigest()
        datagram = b"plj0" + json.dumps({"msg": msg, "salt": "1249637704", "hmac": signature}).encode()
        envelope = envelope_of(datagram)
        check_signature(KEY, envelope)
        read = decode_request(envelope.msg)
        self.assertEqual((read.type, read.rsalt, bytes(read.query)), (1, "9aa6ce92", b'""'))


#: The table also tells the order in which the roles are looked for.
ROLES_ONLY: dict[str, int] = {}
FACTS["node_roles"].pop("tie_order")


class SignatureTests(SynchronousTestCase):
    """Who can make a message that counts."""

    def test_every_byte_counts(self) -> None:
        """Whatever single byte of a datagram is changed, it does not count any more, or says the same."""
        datagram = request(1, "node1")
        whole = envelope_of(datagram)
        for place in range(len(datagram)):
            changed = bytearray(datagram)
            changed[place] ^= 1
            try:
                envelope = envelope_of(bytes(changed))
                check_signature(KEY, envelope)
            except GanetiError:
                continue
            self.assertEqual(envelope, whole)

    def test_other_key(self) -> None:
        """A key differs from the same with another final newline."""
        envelope = envelope_of(request(0, key=Key(RAW_KEY.strip())))
        self.assertRaises(SignatureError, check_signature, KEY, envelope)

    def test_empty_key(self) -> None:
        """A file without a key signs nothing."""
        for raw in (b"", b"\n", b" \n"):
            self.assertRaises(ConfigurationError, Key, raw)

    def test_not_ascii(self) -> None:
        """A signature that is no hexadecimal text is merely wrong."""
        self.assertRaises(SignatureError, check_signature, KEY, Envelope("{}", "1", "ä" * 40))


class GarbageTests(SynchronousTestCase):
    """What is no message raises GanetiError and nothing else."""

    @given(st.binary(max_size=300))
    def test_random(self, data: bytes) -> None:
        """Random bytes, also behind the fourcc."""
        if not data.startswith(MAGIC):
            self.assertRaises(ConfdMagicError, envelope_of, data)
        self.assertRaises(ParseError, envelope_of, MAGIC + data)

    @given(JSON_VALUES)
    def test_other_json(self, value: object) -> None:
        """JSON that means something else."""
        data = json.dumps(value).encode()
        self.assertRaises(ParseError, envelope_of, MAGIC + data)
        for decode in (decode_request, decode_reply):
            self.assertRaises(ParseError, decode, data.decode())

    def test_nasty(self) -> None:
        """What is known to break decoders."""
        for data in NASTY:
            self.assertRaises(ParseError, self.read_to_the_end, data)

    def read_to_the_end(self, data: bytes) -> None:
        """Everything that is ever done with bytes from outside, without the signature."""
        for decode in (decode_request, decode_reply):
            with self.assertRaises(ParseError):
                decode(data.decode("latin-1"))
        decode_request(envelope_of(MAGIC + data).msg)

    @given(st.text(max_size=50), st.text(max_size=50))
    def test_round_trip(self, salt: str, query: str) -> None:
        """Whatever text is asked comes out as it went in."""
        try:
            salt.encode(), query.encode()
        except UnicodeEncodeError:
            return  # lone surrogates cannot be sent at all
        envelope = envelope_of(sign(KEY, Body.of(Reply(status=0, answer=query, serial=1)), salt))
        check_signature(KEY, envelope)
        self.assertEqual((envelope.salt, decode_reply(envelope.msg).answer), (salt, query))

    def test_largest(self) -> None:
        """The largest message fits into a datagram with the longest salt that a request can bring."""
        overhead = len(sign(KEY, Body.of(Request(0, "")), "1"))
        longest = MAX_REQUEST - overhead
        self.assertLess(MAX_MESSAGE + longest + len(sign(KEY, Body(b"", b""), "")), 65508)
        self.assertGreater(MAX_DATAGRAM, 65507)
        self.assertEqual(len(encode("x" * longest)), longest + 2)


class TimeTests(SynchronousTestCase):
    """The window of time."""

    def test_edges(self) -> None:
        """Five minutes in either direction are in, a second more is not."""
        self.assertEqual(MAX_CLOCK_SKEW, 300)
        for difference, expected in ((-301, False), (-300, True), (0, True), (300, True), (301, False)):
            self.assertEqual(in_time(f"{int(NOW) + difference}", NOW), expected, difference)

    def test_no_time(self) -> None:
        """What is no plain decimal number is no time."""
        now = int(NOW)
        for salt in ("", "x", f"-{now}", f"+{now}", f" {now}", f"{now} ", f"{now}.0", "1_700_000_000", "9" * 5000):
            self.assertFalse(in_time(salt, NOW), salt[:20])
        self.assertFalse(in_time("".join(chr(0x0660 + int(digit)) for digit in str(now)), NOW))
