"""How the master sets a node up."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.join import JoinRequest, send
from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.runtime.paths import Paths


class SendTests(SynchronousTestCase):
    """On the master, in a directory of its own."""

    def setUp(self) -> None:
        """It has the cluster's key, and knows one name."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        for path, text in (
            (self.paths.authority_key, "key"),
            (self.paths.ssconf_file("master_node"), "node1.example.com\n"),
            (self.paths.etc_hosts, "192.0.2.1 node1.example.com node1\n"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def test_the_master(self) -> None:
        """The master is not set up anew: with new keys it could reach no node that does not know them yet."""
        for name in ("node1", "node1.example.com"):
            with self.assertRaisesRegex(BootstrapError, "node1.example.com is the master"):
                send(self.paths, JoinRequest(node_name=name, readd=True))
