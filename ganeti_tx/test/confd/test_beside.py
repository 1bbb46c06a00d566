"""Work that keeps others waiting little."""

import gc
import weakref

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.confd.beside import without_collection


class Thing:
    """One that can be watched."""

    def __init__(self, circle: bool = False) -> None:
        """@param circle: only the collector can free it."""
        self.itself = self if circle else None


class CollectionTests(SynchronousTestCase):
    """Work without the collector."""

    def setUp(self) -> None:
        self.addCleanup(gc.unfreeze)

    def test_off_and_on(self) -> None:
        """The collector is off while it works and on afterwards, also when it fails."""
        self.assertFalse(without_collection(gc.isenabled)())
        self.assertTrue(gc.isenabled())
        self.assertRaises(ValueError, without_collection(int), "x")
        self.assertTrue(gc.isenabled())

    def test_freed(self) -> None:
        """What it made is freed when nobody needs it any more; garbage of before is collected first."""
        circle = weakref.ref(Thing(circle=True))
        made = without_collection(Thing)()
        self.assertIsNone(circle())
        gone = weakref.ref(made)
        del made
        self.assertIsNone(gone())
