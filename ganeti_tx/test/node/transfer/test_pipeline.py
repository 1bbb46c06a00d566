"""Programs among which bytes pass."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.transfer.connection import TransferError
from ganeti_tx.node.transfer.pipeline import BLOCK, Programs, into


class ProgramTests(SynchronousTestCase):
    """One that gets its input from us."""

    def test_ends_early(self) -> None:
        """One that ends well before it has read everything is named."""
        programs = Programs()
        self.addCleanup(programs.kill)
        write = into(programs.start(["true"], reads=True, writes=False), "import")
        programs.wait(10.0)
        with self.assertRaisesRegex(TransferError, "^import has not read everything"):
            write(bytes(BLOCK))
