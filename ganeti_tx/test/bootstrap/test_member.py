"""How a node takes back that it joined; no daemon ever ran here."""

import io
from contextlib import redirect_stdout
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.join_documents import LeaveDocument, to_bytes
from ganeti_tx.bootstrap.member import leave
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.runtime.paths import Paths


class LeaveTests(SynchronousTestCase):
    """In a directory of its own."""

    def setUp(self) -> None:
        """A node with the keys of a cluster."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.data_dir.mkdir(parents=True)
        self.paths.run_dir.mkdir(parents=True)
        self.paths.authority_pem.write_bytes(b"ours")
        self.paths.server_pem.write_bytes(b"key")

    def leave(self, authority: bytes) -> str:
        """What the node says when a cluster tells it to."""
        said = io.StringIO()
        with redirect_stdout(said):
            leave(self.paths, to_bytes(LeaveDocument(node_name="node2", authority=authority)))
        return said.getvalue()

    def test_not_added(self) -> None:
        """The keys go; a second time there is nothing to do."""
        self.assertIn("its keys were removed", self.leave(b"ours"))
        self.assertFalse(self.paths.server_pem.exists())
        self.assertIn("nothing was left", self.leave(b"ours"))
        self.assertEqual([*self.paths.run_dir.iterdir()], [])

    def test_another_cluster(self) -> None:
        """A node that has become another cluster's refuses."""
        with self.assertRaisesRegex(BootstrapError, "another cluster's"):
            self.leave(b"theirs")
        self.assertTrue(self.paths.server_pem.exists())
