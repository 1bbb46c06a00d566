"""Why two sides of a mirror are apart, by what both know."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.mirror_state import MirrorState, compared, why_apart

OLDEST, OLD, NEW, OTHER, NONE = "A0", "B0", "C0", "D0", "0"
NEVER = "4"


class ApartTests(SynchronousTestCase):
    """Identifiers: present, shared last, former."""

    def test_compared(self) -> None:
        """Older, newer, both changed, unrelated, never filled, the same."""
        base = [OLD, NONE, OLDEST, NONE]
        went_on = [NEW, OLD, OLDEST, NONE]
        self.assertIn("older", compared(base, went_on))
        self.assertIn("newer", compared(went_on, base))
        self.assertIn("split brain", compared(went_on, [OTHER, OLD, OLDEST, NONE]))
        self.assertIn("no common generation", compared([NEW, NONE, NEVER, NONE], [OTHER, NONE, NEVER, NONE]))
        self.assertEqual(compared([NEVER, NONE, NONE, NONE], base), "never filled")
        self.assertEqual(compared(base, base), "")
        self.assertEqual(compared(base, []), "")

    def test_primary_bit(self) -> None:
        """Data are the same whether the side was primary or not."""
        self.assertEqual(compared(["B1", NONE, NONE, NONE], ["B0", NONE, NONE, NONE]), "")

    def test_words(self) -> None:
        """Without the other side there is what this one sees of it."""
        side = MirrorState(connection="StandAlone", disk="UpToDate", peer_disk="DUnknown", generations=[NEW, OLD])
        self.assertEqual(why_apart(side, None), "StandAlone, data UpToDate, the other side's DUnknown")
        other = MirrorState(connection="StandAlone", disk="UpToDate", peer_disk="DUnknown", generations=[OTHER, OLD])
        self.assertEqual(
            why_apart(side, other), "StandAlone, split brain: each side has changes that the other has not"
        )
