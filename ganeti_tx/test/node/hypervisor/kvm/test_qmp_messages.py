"""QMP as bytes: what QEMU 7.2 really said, cut anywhere; and what is no QMP."""

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.kvm.qmp_messages import (
    Answer,
    Event,
    Greeting,
    Message,
    MessageBuffer,
    QmpMalformed,
    Refusal,
    encode,
    parse,
)
from ganeti_tx.test.node.hypervisor.kvm.captured import CAPTURES, captured

GREETING = b'{"QMP": {"version": {"qemu": {"micro": 22, "minor": 2, "major": 7}}, "capabilities": ["oob"]}}\r\n'


def said(name: str) -> bytes:
    """All that QEMU sent in one capture."""
    return b"".join(msgspec.json.encode(each.message) + b"\r\n" for each in captured(name) if each.from_qemu)


class ParseTests(SynchronousTestCase):
    """Messages out of bytes."""

    def test_cut_anywhere(self) -> None:
        """Bytes that come one by one give the same messages as bytes that come at once."""
        for name in CAPTURES:
            whole = MessageBuffer().feed(said(name))
            buffer = MessageBuffer()
            one_by_one = [message for byte in said(name) for message in buffer.feed(bytes([byte]))]
            self.assertEqual(one_by_one, whole)
            self.assertEqual(len(whole), sum(each.from_qemu for each in captured(name)))

    def test_captured(self) -> None:
        """Every kind of message that QEMU sends is told from the others."""
        messages = MessageBuffer().feed(said("lifecycle"))
        self.assertEqual(messages[0], Greeting((7, 2, 22)))
        self.assertEqual(messages[1], Answer(None, {}))
        self.assertEqual(messages[2], Event("STOP", {}))
        self.assertIn(Refusal(None, "CommandNotFound", "The command nosuch has not been found"), messages)
        self.assertIn(Event("BALLOON_CHANGE", {"actual": 166723584}), messages)

    def test_ids(self) -> None:
        """An answer and a refusal carry the id of their command; an id of another kind is none."""
        self.assertEqual(parse(b'{"return": 1, "id": 5}'), Answer(5, 1))
        self.assertEqual(parse(b'{"error": {"class": "C", "desc": "d"}, "id": 5}'), Refusal(5, "C", "d"))
        self.assertEqual(parse(b'{"return": 1, "id": "x"}'), Answer(None, 1))

    def test_blank(self) -> None:
        """Empty lines are no messages."""
        self.assertEqual(MessageBuffer().feed(b"\r\n\n" + GREETING), [Greeting((7, 2, 22))])

    def test_junk(self) -> None:
        """What is no QMP message is refused with its beginning, in one line."""
        for junk in (b"SSH-2.0-x", b"\xff\xfe", b"[]", b"{}", b'{"return"', b'{"event": 5}', b"[" * 100_000, b"\0"):
            buffer = MessageBuffer()
            error = self.assertRaises(QmpMalformed, buffer.feed, junk + b"\n")
            self.assertIn("not a QMP message", str(error))
            self.assertLess(len(str(error)), 300)
            self.assertNotIn("\n", str(error))

    def test_too_long(self) -> None:
        """A message over the limit is refused before its end has come, in one piece or in many."""
        self.assertRaises(QmpMalformed, MessageBuffer(limit=10).feed, b"x" * 11)
        self.assertRaises(QmpMalformed, MessageBuffer(limit=10).feed, b"x" * 11 + b"\n")
        buffer = MessageBuffer(limit=10)
        buffer.feed(b"x" * 10)
        self.assertRaises(QmpMalformed, buffer.feed, b"x")

    def test_limit_counts_one_message(self) -> None:
        """Many messages together may be longer than the limit."""
        messages: list[Message] = MessageBuffer(limit=30).feed(b'{"return": {}}\n' * 10)
        self.assertEqual(len(messages), 10)

    def test_encode(self) -> None:
        """A command is one line with its id, and with arguments only if it has some."""
        self.assertEqual(encode("stop", None, 3), b'{"execute":"stop","id":3}\n')
        self.assertEqual(encode("balloon", {"value": 1}, 4), b'{"execute":"balloon","id":4,"arguments":{"value":1}}\n')
        self.assertEqual(encode("x", {"text": "a\nb"}, 5).count(b"\n"), 1)
