"""HTTP/1.1 byte by byte: responses as they come, right and wrong ones, and requests as they go."""

import traceback

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.rapi_client.errors import AnswerError, NoAnswerError
from ganeti_tx.rapi_client.http1 import LARGEST_HEAD, Response, request_bytes
from ganeti_tx.rapi_client.message import Message
from ganeti_tx.rapi_client.reading import WholeReply
from ganeti_tx.rapi_client.server import Login, Server, Token

COUNTED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nx-a:2 \r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 100 Continue\r\n\r\n"
    b"HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nX-Trailer: 1\r\n\r\n"
)


def read(*pieces: bytes) -> tuple[Response, bytes]:
    """A response fed with these pieces, and its body."""
    response = Response()
    return response, b"".join(response.feed(piece) for piece in pieces)


def single(data: bytes) -> list[bytes]:
    """One byte at a time."""
    return [data[index : index + 1] for index in range(len(data))]


class ResponseTests(SynchronousTestCase):
    """Reading a response."""

    def test_counted(self) -> None:
        """A body of a known length ends there; repeated headers are joined, their names are lower-case."""
        for pieces in ([COUNTED], single(COUNTED)):
            response, body = read(*pieces)
            self.assertEqual((response.status, body, response.ended, response.reusable), (200, b"hello", True, True))
            self.assertEqual(response.headers["x-a"], "1, 2")

    def test_chunked(self) -> None:
        """Chunks are put together; what only announces the answer is passed over."""
        for pieces in ([CHUNKED], single(CHUNKED)):
            response, body = read(*pieces)
            self.assertEqual((response.status, body, response.ended, response.reusable), (201, b"hello", True, True))

    def test_until_closed(self) -> None:
        """A body without length ends with the connection."""
        response, body = read(b"HTTP/1.0 200 OK\r\n\r\nhel", b"lo")
        self.assertEqual((body, response.ended), (b"hello", False))
        response.closed()
        self.assertEqual((response.ended, response.reusable), (True, False))

    def test_without_body(self) -> None:
        """Some answers never have a body, whatever they say of its length."""
        for status in (204, 304):
            response, body = read(b"HTTP/1.1 %d X\r\nContent-Length: 5\r\n\r\n" % status)
            self.assertEqual((response.ended, body), (True, b""))

    def test_close(self) -> None:
        """A server that closes says so."""
        response, _ = read(b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n")
        self.assertEqual((response.ended, response.reusable), (True, False))

    def test_cut_off(self) -> None:
        """Whatever is cut off is incomplete."""
        for data in (COUNTED, CHUNKED):
            for end in range(len(data)):
                response, _ = read(data[:end])
                self.assertRaises(NoAnswerError, response.closed)

    def test_many_small_chunks(self) -> None:
        """Chunks of one byte each, all at once, take time in proportion."""
        count = 200_000
        response, body = read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * count)
        self.assertEqual((len(body), response.ended), (count, False))

    def test_header_of_spaces(self) -> None:
        """A header may be long and full of spaces: reading it takes time in proportion."""
        spaces = b" " * (LARGEST_HEAD - 100)
        response, _ = read(b"HTTP/1.1 204 X\r\na: x" + spaces + b"\r\n\r\n")
        self.assertEqual(response.headers, {"a": "x"})
        self.assertRaises(AnswerError, read, b"HTTP/1.1 200 OK\r\na:x" + spaces + b"\0\r\n\r\n")

    def test_refused(self) -> None:
        """What is no clear response is refused."""
        head = b"HTTP/1.1 200 OK\r\n"
        for wrong in (
            b"HTTP/2 200 OK\r\n\r\n",
            b"HTTP/1.1 2000 OK\r\n\r\n",
            head + b"no header\r\n\r\n",
            head + b"a b: c\r\n\r\n",
            head + b"Content-Length: -1\r\n\r\n",
            head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            head + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            head + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
            head + b"Transfer-Encoding: chunked\r\n\r\n0x5\r\n",
            head + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n",
            head + b"Transfer-Encoding: chunked\r\n\r\n" + b"0" * (2 * LARGEST_HEAD),
            head + b"a: b\r\n" * LARGEST_HEAD,
            COUNTED + b"!",
        ):
            self.assertRaises(AnswerError, read, wrong)

    @given(st.data())
    def test_any_cut(self, data: st.DataObject) -> None:
        """However the bytes are cut, the body is the same."""
        cuts = sorted(data.draw(st.lists(st.integers(0, len(CHUNKED)), max_size=6)))
        pieces = [CHUNKED[a:b] for a, b in zip([0, *cuts], [*cuts, len(CHUNKED)], strict=True)]
        self.assertEqual(read(*pieces)[1], b"hello")

    @given(st.binary(max_size=200))
    def test_any_bytes(self, data: bytes) -> None:
        """Whatever comes is a response, refused or incomplete: nothing else is raised."""
        for beginning in (b"", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"):
            try:
                read(beginning + data)
            except AnswerError:
                continue


class WholeReplyTests(SynchronousTestCase):
    """Gathering an answer."""

    def test_limit(self) -> None:
        """An answer may be as long as the limit, and no longer, however it comes."""
        for data in (COUNTED, CHUNKED):
            self.assertTrue(WholeReply(5).feed(data))
            self.assertRaises(AnswerError, WholeReply(4).feed, data)


class RequestTests(SynchronousTestCase):
    """Writing a request."""

    def test_request(self) -> None:
        """Host, credentials and length are told."""
        server = Server("::1", 5080, credentials=Login("joe", "x"))
        data = request_bytes(server, Message("PUT", "/2/tags?tag=a", b"{}", (("Content-Type", "application/json"),)))
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        self.assertEqual((lines[0], body), ("PUT /2/tags?tag=a HTTP/1.1", b"{}"))
        for line in ("Host: [::1]:5080", "Content-Length: 2", "Authorization: Basic am9lOng="):
            self.assertIn(line, lines)

    def test_length(self) -> None:
        """A request that may have a body says when it has none; a GET says nothing."""
        server = Server("c")
        self.assertIn(b"Content-Length: 0\r\n", request_bytes(server, Message("POST", "/")))
        self.assertNotIn(b"Content-Length", request_bytes(server, Message("GET", "/")))

    def test_no_header_of_others(self) -> None:
        """Neither a token nor a condition can bring a header of its own; the value itself is not shown."""
        for server, message in (
            (Server("c", credentials=Token("x\r\nHost: d")), Message("GET", "/")),
            (Server("c"), Message("GET", "/", headers=(("If-Match", "x\r\nHost: d"),))),
        ):
            error = self.assertRaises(OpPrereqError, request_bytes, server, message)
            self.assertNotIn("Host: d", str(error))

    def test_host(self) -> None:
        """What is no host name or address is refused, as is what is no port."""
        for host in ("", "a b", "a\r\nb", "é", ".a", "a..b", "a" * 64):
            self.assertRaises(OpPrereqError, Server, host)
            self.assertRaises(OpPrereqError, Server, "a", name=host)
        for port in (-1, 0, 65536):
            self.assertRaises(OpPrereqError, Server, "a", port)
        for host in ("a.example.", "::1", "192.0.2.1", "fe80::1%eth0"):
            self.assertEqual(Server(host, 1, name="b").host, host)

    def test_limits(self) -> None:
        """No limit is below nothing: fewer than no repetitions would be repetitions without end."""
        for name in ("connect_timeout", "answer_timeout", "silence_timeout", "largest_answer", "retries", "cache_size"):
            for value in (-1, float("inf"), float("nan")):
                error = self.assertRaises(OpPrereqError, Server, "c", **{name: value})
                self.assertIn(name, str(error))
        self.assertEqual(Server("c", retries=0, cache_size=0).retries, 0)

    def test_login(self) -> None:
        """What cannot be sent as user and password is refused; the password is shown nowhere, also not inside."""
        error = self.assertRaises(OpPrereqError, Login, "joe", "s3cret\udcff")
        self.assertNotIn("s3cret", "".join(traceback.format_exception(error)) + repr(error))
        for user in ("joe:s", "\udcff"):
            self.assertRaises(OpPrereqError, Login, user, "x")

    def test_secrets_are_not_shown(self) -> None:
        """The representation of a server shows no secret."""
        self.assertNotIn("s3", repr(Server("c", credentials=Token("s3"))) + repr(Login("a", "s3")))
