"""Bytes to messages, however they are cut."""

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi.framing import FrameBuffer, FrameTooLong, Message, frame

MESSAGE = st.binary(max_size=40).map(lambda raw: raw.replace(b"\x03", b""))


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """The data, cut at each place named (modulo its length)."""
    places = sorted({cut % (len(data) + 1) for cut in cuts})
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


class FrameBufferTests(SynchronousTestCase):
    """The buffer between a stream and its messages."""

    def test_byte_by_byte(self) -> None:
        """A message comes out with its last byte, not earlier."""
        buffer = FrameBuffer()
        got = [list(buffer.feed(bytes([byte]))) for byte in b"ab\x03\x03c"]
        self.assertEqual(got, [[], [], [b"ab"], [b""], []])
        self.assertEqual(buffer.unfinished, 1)

    @given(st.lists(MESSAGE, max_size=6), MESSAGE, st.lists(st.integers(0, 400), max_size=8))
    def test_any_cutting(self, messages: list[bytes], tail: bytes, cuts: list[int]) -> None:
        """How the stream is cut makes no difference."""
        buffer = FrameBuffer()
        stream = b"".join(map(frame, messages)) + tail
        got = [message for piece in pieces(stream, cuts) for message in buffer.feed(piece)]
        self.assertEqual(got, messages)
        self.assertEqual(buffer.unfinished, len(tail))

    @given(st.integers(0, 12), st.lists(st.integers(0, 30), max_size=5))
    def test_limit(self, over: int, cuts: list[int]) -> None:
        """A message over the limit is an error, whether its end is there or not, after the messages before it."""
        buffer = FrameBuffer(limit=8)
        got: list[Message] = []

        def feed() -> None:
            for piece in pieces(b"12345678\x03" + b"x" * (9 + over), cuts):
                for message in buffer.feed(piece):
                    got.append(message)

        self.assertRaises(FrameTooLong, feed)
        self.assertEqual(got, [b"12345678"])

    def test_terminator_inside(self) -> None:
        """A message that holds the terminator is not sent."""
        self.assertRaises(ValueError, frame, b"a\x03b")
