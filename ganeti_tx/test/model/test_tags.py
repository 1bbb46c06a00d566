"""What a tag is."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import TagError
from ganeti_tx.model.tags import check_tag, is_tag


class TagTests(SynchronousTestCase):
    """Texts that are tags, and others."""

    def test_tags(self) -> None:
        """Letters, digits, blanks and .+*/:@_- in any order, up to 128 of them (Ganeti 3.0 configuration table)."""
        for tag in ("a", "owner:bob", "x" * 128, "two words", " _.+*/:@-"):
            self.assertEqual(check_tag(tag), tag)
            self.assertTrue(is_tag(tag), tag)

    def test_no_tags(self) -> None:
        """What is empty, too long or has another character is refused with what is allowed."""
        cases = {"": "empty", "x" * 129: "at most 128", "no!": "no!", "a\n": "allowed are", "\u00e4": "allowed are"}
        for tag, reason in cases.items():
            self.assertFalse(is_tag(tag), tag)
            self.assertIn(reason, str(self.assertRaises(TagError, check_tag, tag)))
