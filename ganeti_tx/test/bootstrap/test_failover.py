"""What `gnt-cluster master-failover` makes sure of on this machine before it begins."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.failover import LOCK_MODE, LOCK_NAME, failover
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.paths import Paths


class FailoverTests(SynchronousTestCase):
    """A machine with the files of a node, below a directory."""

    def setUp(self) -> None:
        self.paths = Paths(Path(self.mktemp()).absolute())
        for directory in (self.paths.data_dir, self.paths.run_dir):
            directory.mkdir(parents=True)

    def refused(self) -> str:
        """Why nothing is done."""
        with self.assertRaises(BootstrapError) as caught:
            failover(self.paths, b"{}")
        return str(caught.exception)

    def test_no_node(self) -> None:
        """A machine of no cluster becomes no master."""
        self.assertIn("part of no cluster", self.refused())

    def test_twice(self) -> None:
        """Two of them on a node would write beside the daemons that the first one starts."""
        self.paths.client_pem.write_bytes(b"")
        lock = hold(self.paths.run_dir / LOCK_NAME, LOCK_MODE)
        self.addCleanup(lock.release)
        self.assertIn("runs on this node already", self.refused())
