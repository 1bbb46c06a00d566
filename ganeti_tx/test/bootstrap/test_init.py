"""What a new cluster is told before anything is done."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.init import check_storage, find_first_node, init
from ganeti_tx.bootstrap.problems import BootstrapError, Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.runtime.paths import Paths


class InitTests(SynchronousTestCase):
    """A node below a directory."""

    def setUp(self) -> None:
        """Its hosts file knows the cluster's short name."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.data_dir.mkdir(parents=True)
        self.paths.etc_hosts.parent.mkdir(parents=True, exist_ok=True)
        self.paths.etc_hosts.write_text("127.0.0.77 cluster.example.com cluster\n")
        self.settings = InitSettings(cluster_name="cluster")

    def test_member(self) -> None:
        """On a node of a cluster that is all that is said: it is no advice to stop that cluster's daemons."""
        self.paths.server_pem.touch()
        with self.assertRaises(BootstrapError) as caught:
            init(self.paths, self.settings)
        self.assertEqual(len(caught.exception.args), 1)
        self.assertIn("part of a cluster already", str(caught.exception))

    def test_storage(self) -> None:
        """A template that is enabled unasked wants a directory: it is said how to do without."""
        problems = Problems()
        check_storage(self.paths, self.settings, problems)
        self.assertIn("leave 'sharedfile' out of --enabled-disk-templates", problems.found[-1])

    def test_full_name(self) -> None:
        """A short name stands for the full one, as a node's does."""
        _, name, address = find_first_node(self.paths, self.settings, Problems())
        self.assertEqual((name, address), ("cluster.example.com", "127.0.0.77"))
