"""Lists encoded bit by bit."""

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi.long_answers import encode_elements
from ganeti_tx.luxi.server_messages import encode_result


class LongAnswerTests(SynchronousTestCase):
    """An answer made of bits is the answer made at once."""

    def answer(self, *parts: list[object]) -> object:
        """What a client reads of a list made of these parts."""
        encoded = encode_result([item for part in parts for item in encode_elements(part)])
        self.assertTrue(encoded.isascii())
        return msgspec.json.decode(encoded)["result"]

    def test_whole(self) -> None:
        """Parts of any length, empty ones too, make one flat list."""
        self.assertEqual(self.answer([1, [2]], [], [{"a": (3, None)}]), [1, [2], {"a": [3, None]}])
        self.assertEqual(self.answer([], []), [])

    def test_ascii(self) -> None:
        """Whatever a text holds, the wire has ASCII."""
        self.assertEqual(self.answer(["ü", "\U0001f600"]), ["ü", "\U0001f600"])

    def test_not_json(self) -> None:
        """What cannot be JSON is an error of the part."""
        self.assertRaises(TypeError, encode_elements, [object()])
