"""When Python looks for garbage."""

import gc

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.garbage import search_seldom, spare_what_is_here


class GarbageTests(SynchronousTestCase):
    """A program that comes up, and that is up."""

    def setUp(self) -> None:
        """Nothing of it outlasts the test."""
        self.addCleanup(gc.set_threshold, *gc.get_threshold())
        self.addCleanup(gc.unfreeze)

    def test_up(self) -> None:
        """It is looked for seldom until then; afterwards as usual, but not among what was there."""
        usual = gc.get_threshold()
        search_seldom()
        self.assertGreater(gc.get_threshold()[0], usual[0])
        kept: list[list[int]] = [[]]
        spare_what_is_here()
        self.assertEqual(gc.get_threshold(), usual)
        self.assertGreater(gc.get_freeze_count(), 0)
        self.assertNotIn(id(kept), set(map(id, gc.get_objects())))
