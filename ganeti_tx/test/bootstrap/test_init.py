"""What a new cluster is told before anything is done."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.init import check_storage, find_first_node, init
from ganeti_tx.bootstrap.problems import BootstrapError, Problems
from ganeti_tx.bootstrap.settings import InitSettings, read_settings
from ganeti_tx.runtime.names import own_name
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

    def found(self, **settings: object) -> str:
        """The problems with the addresses of a cluster with IPv6."""
        problems = Problems()
        find_first_node(self.paths, InitSettings(cluster_name="cluster", primary_ip_version=6, **settings), problems)
        return str(problems.found)

    def test_version_6(self) -> None:
        """Names need IPv6 addresses that other nodes reach, and the node an IPv4 secondary address of its own."""
        lines = [f"::1 {own_name()}", "fe80::1 cluster"]
        self.assertIn("'cluster': no IPv6 address is known", self.found(secondary_ip="127.0.0.1"))
        self.paths.etc_hosts.write_text("\n".join(lines))
        found = self.found()
        self.assertIn("this node: a cluster with IPv6 primary addresses needs an IPv4 secondary", found)
        self.assertIn("the cluster's name 'cluster': fe80::1 is a link-local address", found)
        self.assertIn(
            "this node: 2001:db8::1 is an IPv6 address, but secondary", self.found(secondary_ip="2001:db8::1")
        )
        self.assertIn("192.0.2.250 is not an address of this machine", self.found(secondary_ip="192.0.2.250"))
        self.assertNotIn("secondary", self.found(secondary_ip="127.0.0.1"))

    def test_other_version(self) -> None:
        """There are two versions of IP."""
        with self.assertRaisesRegex(BootstrapError, r"Invalid enum value 5 - at `\$.primary_ip_version`"):
            read_settings(b'{"cluster_name": "cluster", "primary_ip_version": 5}')

    def test_full_name(self) -> None:
        """A short name stands for the full one, as a node's does."""
        _, name, address = find_first_node(self.paths, self.settings, Problems())
        self.assertEqual((name, address), ("cluster.example.com", "127.0.0.77"))
