"""Answers, however their bytes come, and what is none."""

from collections.abc import Iterable

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rpc.http.answer import Answer, AnswerReader
from ganeti_tx.rpc.http.chunks import Chunks
from ganeti_tx.rpc.http.errors import AnswerTooLong, BadAnswer
from ganeti_tx.rpc.http.head import HEAD_LIMIT, request

LIMIT = 1000
HEAD = (
    b"HTTP/1.1 200 OK\r\nServer: TwistedWeb/26.4.0\r\nDate: Fri, 27 Nov 2026 10:00:00 GMT\r\n"
    b"Content-Type: application/msgpack\r\n"
)
WITH_LENGTH = HEAD + b"Content-Length: 5\r\n\r\nhello"
IN_CHUNKS = b"HTTP/1.1 500 Oh\r\ntransfer-encoding: Chunked\r\n\r\n3\r\nhel\r\n02\r\nlo\r\n0\r\n\r\n"


def fed(pieces: Iterable[bytes], limit: int = LIMIT) -> tuple[Answer | None, AnswerReader]:
    """What comes of these pieces, and the reader; nothing comes before the last one."""
    reader = AnswerReader(limit)
    answer = None
    for piece in pieces:
        assert answer is None, "there was an answer before"
        answer = reader.feed(piece)
    return answer, reader


def one_by_one(data: bytes) -> list[bytes]:
    """Its bytes."""
    return [data[at : at + 1] for at in range(len(data))]


class WholeTests(SynchronousTestCase):
    """What node daemons send."""

    def test_any_pieces(self) -> None:
        """An answer is the same in one piece, byte by byte, and cut in two anywhere."""
        for data, status in ((WITH_LENGTH, 200), (IN_CHUNKS, 500)):
            ways = [[data], one_by_one(data), *([data[:at], data[at:]] for at in range(1, len(data)))]
            for pieces in ways:
                answer, reader = fed(pieces)
                self.assertEqual((answer, reader.reusable), (Answer(status, b"hello"), True))

    def test_empty(self) -> None:
        """A body may be empty, and a reason, too."""
        self.assertEqual(fed([b"HTTP/1.1 413\r\nContent-Length: 0\r\n\r\n"])[0], Answer(413, b""))
        self.assertEqual(fed([b"HTTP/1.1 404 \r\nTransfer-Encoding:chunked\r\n\r\n0\r\n\r\n"])[0], Answer(404, b""))

    def test_last_one(self) -> None:
        """After an answer that says so, or behind which there is something, the connection is of no use."""
        closing = HEAD + b"Connection: Close\r\nContent-Length: 5\r\n\r\nhello"
        twice = closing.replace(b"Close", b"close\r\nConnection: keep-alive")
        reverse = closing.replace(b"Close", b"keep-alive\r\nconnection: close")
        for data in (closing, twice, reverse, WITH_LENGTH + b"H", WITH_LENGTH + WITH_LENGTH, IN_CHUNKS + b"\r\n"):
            answer, reader = fed([data])
            assert answer is not None
            self.assertEqual((answer.body, reader.reusable), (b"hello", False))


class ManyChunksTests(SynchronousTestCase):
    """A body in as many chunks as it has bytes."""

    def test_copies(self) -> None:
        """What has come is looked at in small pieces, not copied for each chunk."""
        looked = []

        class Counted(Chunks):
            def _look(self, length: int) -> bytes:
                found = super()._look(length)
                looked.append(len(found))
                return found

        number = 5000
        self.assertEqual(Counted().feed(b"1\r\nx\r\n" * number), b"x" * number)
        self.assertLess(sum(looked), 30 * number)


class RefusedTests(SynchronousTestCase):
    """What is no answer."""

    def refused(self, data: bytes) -> str:
        """Why it is, in one line that is harmless on a terminal; in one piece, and byte by byte."""
        for pieces in ([data], one_by_one(data)):
            with self.assertRaises(BadAnswer) as caught:
                fed(pieces)
        text = str(caught.exception)
        self.assertTrue(text.isprintable() and text.isascii(), text)
        return text

    def test_something_else(self) -> None:
        """Other protocols are known by their first bytes, and older or stranger HTTP by its first line."""
        with self.assertRaises(BadAnswer) as caught:
            fed([b"SSH-2.0-OpenSSH_9.2\r\n"])
        self.assertIn("SSH-2.0", str(caught.exception))
        for line in (
            b"HTTP/1.0 200 OK", b"HTTP/1.1 200OK", b"HTTP/1.1 2000 OK", b"HTTP/1.1  200 OK", b"HTTP/1.1 200 O\x1b[0mK",
            b"HTTP/1.1 100 Continue", b"HTTP/1.1 204 No Content", b"HTTP/1.1 304 Not Modified", b" HTTP/1.1 200 OK", b"\x00" * 20,
            b"HTTP/1.1 200 OK\nContent-Length: 0",
        ):  # fmt: skip
            self.refused(line + b"\r\nContent-Length: 0\r\n\r\n")

    def test_end_not_clear(self) -> None:
        """What two readers could take for bodies of different lengths is refused."""
        for headers in (
            b"Content-Length: 5\r\nContent-Length: 5", b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"Content-Length: 5, 5",
            b"Content-Length: +5", b"Content-Length: 5x", b"Content-Length:", b"Content-Length: " + b"9" * 19,
            b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity",
            b"Transfer-Encoding: chunked\r\ntransfer-encoding: chunked",
        ):  # fmt: skip
            self.assertIn("the end of its answer is not clear", self.refused(HEAD + headers + b"\r\n\r\nhello"))

    def test_no_header(self) -> None:
        """Lines that are no headers, or go on with the one before, are refused."""
        for line in (
            b"nothing",
            b": 5",
            b"Content-Length : 5",
            b" Content-Length: 5",
            b"X: a\x00b",
            b"X: a\rb",
            b"X: a\nY: b",
        ):
            self.assertIn("no header", self.refused(HEAD + line + b"\r\n\r\n"))

    def test_endless_head(self) -> None:
        """A head has an end, soon."""
        line = b"X-Filler: " + b"x" * 1000 + b"\r\n"
        self.refused(HEAD + line * (HEAD_LIMIT // len(line) + 1))
        self.refused(HEAD + line * (HEAD_LIMIT // len(line) + 1) + b"Content-Length: 0\r\n\r\n")

    def test_no_chunks(self) -> None:
        """Chunks have their length before them and an end of line behind, and nothing more."""
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for data in (
            b"\r\n", b"x\r\n", b"-1\r\n", b"3;a=b\r\nhel\r\n", b"3\r\nhello\r\n", b"3\r\nhel\n\n", b"0\r\nX: y\r\n\r\n", b"0" * 18,
            b"0x3\r\nhel\r\n", b"3\nhel\r\n0\r\n\r\n",
        ):  # fmt: skip
            self.assertIn("chunk", self.refused(head + data))


class TooLongTests(SynchronousTestCase):
    """Bodies beyond the limit."""

    def too_long(self, *pieces: bytes) -> None:
        """It is, with the last piece."""
        reader = AnswerReader(LIMIT)
        for piece in pieces[:-1]:
            self.assertIsNone(reader.feed(piece))
        with self.assertRaises(AnswerTooLong) as caught:
            reader.feed(pieces[-1])
        self.assertEqual(str(caught.exception), f"more than {LIMIT} bytes")

    def test_as_it_says(self) -> None:
        """One that says so is not waited for."""
        self.too_long(HEAD + b"Content-Length: %d\r\n\r\n" % (LIMIT + 1))
        self.too_long(HEAD + b"Content-Length: " + b"9" * 18 + b"\r\n\r\n")

    def test_as_it_comes(self) -> None:
        """Others are when so much has come, in chunks or without an end."""
        self.too_long(HEAD + b"\r\n", b"x" * LIMIT, b"x")
        chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
        self.too_long(chunked, b"ffffffff\r\n" + b"x" * LIMIT, b"x")
        self.too_long(chunked, *([b"200\r\n" + b"x" * 512 + b"\r\n"] * 2))

    def test_just_so(self) -> None:
        """The limit itself is not too much."""
        body = b"x" * LIMIT
        self.assertEqual(fed([HEAD + b"Content-Length: %d\r\n\r\n" % LIMIT + body])[0], Answer(200, body))
        chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (LIMIT, body)
        self.assertEqual(fed([chunked])[0], Answer(200, body))


class RequestTests(SynchronousTestCase):
    """What is sent."""

    def test_head(self) -> None:
        """A POST with all that a node daemon needs."""
        head = request("/version", "[2001:db8::1]:1811", "application/msgpack", 3)
        lines = [b"POST /version HTTP/1.1", b"Host: [2001:db8::1]:1811", b"Content-Type: application/msgpack"]
        self.assertEqual(head.split(b"\r\n"), [*lines, b"Content-Length: 3", b"", b""])
