"""Requests and responses as bytes, at both ends."""

import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, GenericError, HooksAbort, JobLost, OpPrereqError
from ganeti_tx.luxi.answers import result_of
from ganeti_tx.luxi.framing import TERMINATOR
from ganeti_tx.luxi.messages import CLIENT_VERSION, Request, encode_request
from ganeti_tx.luxi.server_messages import (
    UnreadableRequest,
    decode_request,
    encode_failure,
    encode_internal_error,
    encode_refusal,
    encode_result,
)
from ganeti_tx.luxi.transport_errors import ProtocolError, RequestError

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


class Colour(msgspec.Struct, frozen=True):
    """A typed value in a result."""

    red: int


class RequestTests(SynchronousTestCase):
    """The way to the server."""

    def test_bytes(self) -> None:
        """A request looks as the stock clients write it: spaces, ASCII, a newline at its end."""
        message = encode_request(Request("QueryTags", ["node", "é"], CLIENT_VERSION))
        self.assertEqual(message, b'{"method": "QueryTags", "args": ["node", "\\u00e9"], "version": 3000000}\n')

    @given(st.lists(JSON, max_size=3))
    def test_there(self, args: list[Any]) -> None:
        """What the client sends is what the server reads, and no terminator is inside."""
        message = encode_request(Request("Query", args, 1))
        self.assertNotIn(TERMINATOR, message)
        self.assertEqual(decode_request(message), Request("Query", args, 1))

    def test_without_version(self) -> None:
        """The version may be absent, unknown keys are let through, any args are taken."""
        self.assertEqual(decode_request(b'{"method":"A","args":{},"more":1}'), Request("A", {}))

    def test_junk(self) -> None:
        """What is no request is refused as such, whatever is wrong with it."""
        junk = [
            b"", b"\xff\xfe", b"[]", b"{}", b'{"method":"A"}', b'{"method":1,"args":[]}',
            b'{"method":"A","args":[NaN]}',
            b'{"method":"A","args":[1e999]}', b'{"method":"A","args":[' + b"9" * 6000 + b"]}",
            b'{"method":"A","args":' + b"[" * 100000 + b"]" * 100000 + b"}", b'{"method":"A","args":["\xff"]}',
            b'{"method":"A","args":["\\ud800"]}', b'{"method":"A","args":[]} x',
        ]  # fmt: skip
        for message in junk:
            self.assertRaises(UnreadableRequest, decode_request, message)

    def test_not_json(self) -> None:
        """Arguments that cannot be JSON are the caller's error."""
        for value in (object(), float("nan"), {1, 2}):
            self.assertRaises(ProtocolError, encode_request, Request("A", [value]))


class ResponseTests(SynchronousTestCase):
    """The way back."""

    def test_bytes(self) -> None:
        """An answer looks as the stock server writes it: no spaces, ASCII."""
        self.assertEqual(
            encode_result(["é\U0001f600\x03", Colour(3)]),
            b'{"success":true,"result":["\\u00e9\\ud83d\\ude00\\u0003",{"red":3}]}',
        )

    @given(JSON)
    def test_back(self, result: Any) -> None:
        """What the server answers is what the client gets, in ASCII and without terminator."""
        message = encode_result(result)
        self.assertTrue(message.isascii())
        self.assertNotIn(TERMINATOR, message)
        self.assertEqual(result_of(message), result)
        self.assertEqual(json.loads(message), {"success": True, "result": result})

    def test_errors(self) -> None:
        """Errors travel as class and arguments, and are raised as the same."""
        for error in (
            JobLost("Job 7 lost"), OpPrereqError("no such node", ECode.NOENT), HooksAbort([("node1", "00-x", "no")])
        ):  # fmt: skip
            message = encode_failure(error)
            self.assertEqual(json.loads(message)["result"][0], type(error).__name__)
            got = self.assertRaises(type(error), result_of, message)
            self.assertEqual(json.dumps(got.args), json.dumps(error.args))

    def test_error_not_json(self) -> None:
        """An error whose text is no Unicode is answered all the same."""
        got = self.assertRaises(GenericError, result_of, encode_failure(JobLost("no file 'a\udce9'")))
        self.assertEqual(got.args, ("no file 'a\\udce9'",))

    def test_internal_error(self) -> None:
        """An unexpected error says nothing of the program's inside."""
        self.assertEqual(encode_internal_error(), b'{"success":false,"result":["GenericError",["internal error"]]}')

    def test_refusals(self) -> None:
        """A plain string, an unknown class or another form becomes RequestError."""
        self.assertRaises(RequestError, result_of, encode_refusal("Cannot parse request"))
        for result in ('["KeyError",["x"]]', '["JobLost","x"]', '["JobLost",["x"],1]', "null", "{}"):
            self.assertRaises(RequestError, result_of, b'{"success":false,"result":%s}' % result.encode())

    def test_version(self) -> None:
        """A server of another version is refused; of the same or of none it is taken."""
        self.assertEqual(result_of(b'{"success":true,"result":1,"version":3000000}'), 1)
        self.assertRaises(ProtocolError, result_of, b'{"success":true,"result":1,"version":2000000}')

    def test_not_an_answer(self) -> None:
        """Junk from a server is an error of the protocol."""
        for message in (b"", b"\xff", b"[]", b'{"success":1,"result":1}', b'{"success":true}', b"[" * 100000):
            self.assertRaises(ProtocolError, result_of, message)

    def test_result_not_json(self) -> None:
        """A result that cannot be sent is the server's own fault, told as TypeError."""
        for value in (object(), "\ud800"):
            self.assertRaises(TypeError, encode_result, value)
