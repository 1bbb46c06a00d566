"""What is told of a script that an image ran."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.image_run.installing import SHOWN_LINES, failure


class FailureTests(SynchronousTestCase):
    """Texts of a guest, which may be anybody's."""

    def test_done(self) -> None:
        """The last line says so."""
        self.assertEqual(failure("\x1b[2J\nexit status 0\n", []), "")

    def test_terminal(self) -> None:
        """What a terminal would obey is not told, and neither is a secret."""
        said = failure("\x1b]0;pwned\x07\n\x07\nno\x9broom for s3cret\n\u202eexit status 3", ["s3cret"])
        self.assertEqual(said, "its script said: ]0;pwned; no room for <redacted>; exit status 3")
        self.assertTrue(failure("\x1b[2Jexit status 0\nwhat\x00now\n", []).isprintable())

    def test_long(self) -> None:
        """The end is told, of each line so much."""
        said = failure("\n".join(f"{number}{'x' * 1000}" for number in range(100)), [])
        self.assertLess(len(said), 300 * SHOWN_LINES)
        self.assertIn("; 99xxx", said)
