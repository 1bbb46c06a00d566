"""The parameter cpu_mask."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.affinity import masks_for, parse_cpu_mask


class AffinityTests(SynchronousTestCase):
    """Masks out of text."""

    def test_forms(self) -> None:
        """Lists, ranges, all, and one mask for each virtual processor."""
        self.assertEqual(parse_cpu_mask("all"), (None,))
        self.assertEqual(parse_cpu_mask("1-3,5"), (frozenset({1, 2, 3, 5}),))
        self.assertEqual(parse_cpu_mask("0:all:2"), (frozenset({0}), None, frozenset({2})))

    def test_for_all(self) -> None:
        """A single mask is for every virtual processor; otherwise the numbers must agree."""
        self.assertEqual(masks_for("1", 3), (frozenset({1}),) * 3)
        self.assertIn("2 masks for 3", str(self.assertRaises(ValueError, masks_for, "1:2", 3)))

    def test_bad(self) -> None:
        """Anything else is refused."""
        for text in ("", "a", "-1", "1-", "1,,2", "3-1", "1,3-1", "1:", "8192", "99999", "1 2", "²"):
            self.assertRaises(ValueError, parse_cpu_mask, text)
