"""What verification calls a disk that it cannot find."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.verify.disks import called
from ganeti_tx.test.fakes.mirror_node import mirror_spec


class NameTests(SynchronousTestCase):
    """Nothing that is secret is told."""

    def test_mirror(self) -> None:
        """A mirror is called by its minor, though the last part of its id is its secret; a volume by its name."""
        spec = mirror_spec(("198.51.100.1", "198.51.100.2"), 0, number=3)
        self.assertEqual(called(spec), "minor 3")
        self.assertEqual(called(spec.children[0]), "d3_data")
