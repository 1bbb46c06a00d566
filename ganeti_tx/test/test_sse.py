"""Server-sent events, as they are written and read."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.sse import COMMENT, SseError, SseEvent, SseParser, event_bytes, id_bytes, retry_bytes


def one_by_one(parser: SseParser, data: bytes) -> list[SseEvent]:
    """The events of a stream that comes byte by byte."""
    return [event for byte in data for event in parser.feed(bytes([byte]))]


class ParserTests(SynchronousTestCase):
    """What a reader makes of bytes."""

    def read(self, data: bytes) -> list[SseEvent]:
        """The events, which do not depend on how the bytes come."""
        whole, single = SseParser(), SseParser()
        events = whole.feed(data)
        self.assertEqual(one_by_one(single, data + b"x"), events)
        self.assertEqual((whole.last_id, whole.retry), (single.last_id, single.retry))
        return events

    def test_what_we_write(self) -> None:
        """Events, ids and pauses come back; comments are nothing."""
        data = retry_bytes(2000) + id_bytes("e-1") + COMMENT + event_bytes("e-2", "job", b'{"a": 1}') + id_bytes("e-3")
        self.assertEqual(self.read(data), [SseEvent("e-2", "job", '{"a": 1}')])
        parser = SseParser()
        parser.feed(data)
        self.assertEqual((parser.last_id, parser.retry), ("e-3", 2000))

    def test_line_ends(self) -> None:
        """All three line ends count, mixed too."""
        for end in (b"\n", b"\r\n", b"\r"):
            lines = [b"event: a", b"data: 1", b"data: 2", b"", b"data: 3", b"", b": end"]
            self.assertEqual(self.read(end.join(lines)), [SseEvent("", "a", "1\n2"), SseEvent("", "message", "3")])

    def test_fields(self) -> None:
        """One space after the colon is left out; unknown and empty fields, and a mark in the beginning, are no harm."""
        data = b"\xef\xbb\xbfdata:  x\ncolour: red\ndata\nretry: soon\nid: a\0b\nid: 7\n\nid\ndata: y\n\n"
        self.assertEqual(self.read(data), [SseEvent("7", "message", " x\n"), SseEvent("", "message", "y")])

    def test_unfinished(self) -> None:
        """What has no end is no event, and its id does not count; after a lost connection it is forgotten."""
        parser = SseParser()
        self.assertEqual(parser.feed(b"id: 1\ndata: a\n\nid: 2\ndata: b\nda"), [SseEvent("1", "message", "a")])
        self.assertEqual(parser.last_id, "1")
        parser.lost()
        self.assertEqual(parser.feed(b"data: c\n\n"), [SseEvent("1", "message", "c")])

    def test_goes_on(self) -> None:
        """A reader that is given its last id keeps it until the server sends another one."""
        self.assertEqual(SseParser(last_id="e-7").feed(b"data: c\n\n"), [SseEvent("e-7", "message", "c")])

    def test_bounds(self) -> None:
        """A line, or an event, without end is refused before it takes more room; so is what is no text."""
        for data in (b"data: " + b"x" * 100, b"data: 1234567890\n" * 5, b"data: \xff\n\n", b":" + b"x" * 100 + b"\n"):
            self.assertRaises(SseError, SseParser(max_line=50, max_data=50).feed, data)
            self.assertRaises(SseError, one_by_one, SseParser(max_line=50, max_data=50), data)

    @given(st.lists(st.text(max_size=20), max_size=5), st.data())
    def test_any_pieces(self, texts: list[str], data: st.DataObject) -> None:
        """However the bytes are cut, the same events come out."""
        lines = [text.replace("\r", "").replace("\n", "") for text in texts]
        stream = b"".join(b"data: " + line.encode() + b"\r\n\r\n" for line in lines)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
        parser = SseParser()
        pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        events = [event for piece in pieces for event in parser.feed(piece)]
        self.assertEqual([event.data for event in events], lines)
