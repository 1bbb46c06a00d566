"""Which names become file names and arguments."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.names import checked_name
from ganeti_tx.test.contracts.hypervisor import BAD_NAMES


class NameTests(SynchronousTestCase):
    """`checked_name`."""

    def test_good(self) -> None:
        """Host names pass unchanged."""
        for name in ("web1", "web1.example.com", "a-b_c.d", "1.example", "x" * 253):
            self.assertEqual(checked_name(name), name)

    def test_bad(self) -> None:
        """What could leave a directory, end an option or begin one is refused and shown."""
        for name in BAD_NAMES:
            self.assertIn(repr(name), str(self.assertRaises(HypervisorError, checked_name, name)))
