"""Remembered logins."""

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.access.memo import MAX_ENTRIES, Memo


class MemoTests(SynchronousTestCase):
    """Values for a time."""

    def setUp(self) -> None:
        """An empty one."""
        self.clock = Clock()
        self.memo: Memo[str] = Memo(self.clock, b"key")

    def test_time(self) -> None:
        """A value is there until its time is over."""
        key = self.memo.key("a")
        self.memo.remember(key, "value", 10)
        self.clock.advance(9)
        self.assertEqual(self.memo.get(key), "value")
        self.clock.advance(1)
        self.assertIsNone(self.memo.get(key))

    def test_keys(self) -> None:
        """Texts cut elsewhere, another order, and another secret give other keys, and none shows the text."""
        other: Memo[str] = Memo(self.clock, b"other")
        keys = [self.memo.key("ab", "c"), self.memo.key("a", "bc"), self.memo.key("c", "ab"), other.key("ab", "c")]
        self.assertEqual(len(set(keys)), 4)
        self.memo.remember(self.memo.key("user", "secret"), "value", 1)
        self.assertNotIn("secret", repr(self.memo))

    def test_bounded(self) -> None:
        """When there are too many, the one not asked for longest goes."""
        keys = [self.memo.key(str(number)) for number in range(MAX_ENTRIES + 1)]
        for key in keys[:-1]:
            self.memo.remember(key, "value", 10)
        self.memo.get(keys[0])
        self.memo.remember(keys[-1], "value", 10)
        self.assertEqual([self.memo.get(keys[0]), self.memo.get(keys[1])], ["value", None])
