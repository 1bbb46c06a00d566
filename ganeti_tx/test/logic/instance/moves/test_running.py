"""What is compared before a running instance moves."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.instance.moves.running import is_older


class VersionTests(SynchronousTestCase):
    """Versions as nodes tell them."""

    def test_older(self) -> None:
        """By their numbers, whichever way they are told."""
        self.assertTrue(is_older("7.2.9", "7.2.22"))
        self.assertFalse(is_older("7.2.22", "7.2.9"))
        self.assertFalse(is_older("7.2", "7.2"))
        self.assertTrue(is_older([4, 16], [4, 17]))

    def test_unknown(self) -> None:
        """A node that did not find out in time stands in nobody's way, on neither side."""
        for unknown in ("", None):
            self.assertFalse(is_older(unknown, "7.2"))
            self.assertFalse(is_older("7.2", unknown))
