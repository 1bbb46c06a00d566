"""Nested values as text."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.tree import leaf, tree_lines


class LeafTests(SynchronousTestCase):
    """Single values."""

    def test_numbers(self) -> None:
        """Whole numbers have no fraction; what holds nothing is empty."""
        values: list[Any] = [2.0, 2.5, [], {}, None, True]
        self.assertEqual([leaf(value) for value in values], ["2", "2.5", "", "", "None", "True"])

    def test_lines(self) -> None:
        """No text makes lines of its own, which would be taken for those of other values."""
        self.assertEqual(list(tree_lines([("Reason", "no\nStatus: success")])), [r"Reason: no\nStatus: success"])

    def test_commands(self) -> None:
        """What would command a terminal, or turn its writing around, is shown as it is written in Python; texts are left alone."""
        said = "\x1b]0;owned\x07 \x9b2J \u202eback\r"
        lines = list(tree_lines([("Reason", said), ("Tags", ["Z\u00fcrich", "a\tb"])]))
        self.assertEqual(lines[0], r"Reason: \x1b]0;owned\x07 \x9b2J \u202eback\r")
        self.assertEqual(lines[2:], ["  - Z\u00fcrich", "  - a\tb"])
