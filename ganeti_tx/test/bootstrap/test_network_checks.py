"""What must be true of the network before a cluster is made on it."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.init import check_storage
from ganeti_tx.bootstrap.network_checks import SYS_NET, check_not_loopback, check_unused, choose_netdev
from ganeti_tx.bootstrap.problems import Problems
from ganeti_tx.bootstrap.settings import InitSettings
from ganeti_tx.runtime.paths import Paths


class NetworkChecksTests(SynchronousTestCase):
    """On this machine, which has "lo"."""

    def setUp(self) -> None:
        self.problems = Problems()

    def chosen(self, address: str = "", **settings: object) -> str:
        """The interface for the cluster's address."""
        return choose_netdev(InitSettings(cluster_name="c", **settings), address, self.problems)

    def test_netdev(self) -> None:
        """The one asked for, else the instances' link, else the one with the node's address; each if it is there."""
        self.assertEqual(self.chosen(master_netdev="lo"), "lo")
        self.assertEqual(self.chosen(nicparams={"link": "lo"}), "lo")
        self.assertEqual(self.chosen("127.0.0.1", nicparams={"link": "nosuch1"}), "lo")
        self.assertEqual(self.problems.found, [])

    def test_no_netdev(self) -> None:
        """What is not there is named, with the option to give."""
        self.chosen(master_netdev="nosuch0")
        self.chosen("192.0.2.1", nicparams={"link": "nosuch1"})
        first, second = self.problems.found
        self.assertIn("'nosuch0' (--master-netdev)", first)
        self.assertIn("'nosuch1' for the cluster's address; give one with --master-netdev", second)

    def test_loopback(self) -> None:
        """A node that others reach under no loopback address has one only on a machine that is all of the cluster."""
        for address in ("127.0.1.1", "::1", "192.0.2.1", ""):
            check_not_loopback(Paths(Path("/root/of/one")), self.problems, "x", address)
            check_not_loopback(Paths(Path("/")), self.problems, "this node's name 'n'", address)
        first, second = self.problems.found
        self.assertIn("'n' resolves to 127.0.1.1, which is an address of the loopback network", first)
        self.assertIn("::1", second)

    def test_unused(self) -> None:
        """Of this machine's own loopback network nobody can tell who uses it."""
        check_unused(self.problems, "cluster c", "127.0.0.1")
        check_unused(self.problems, "cluster c", "")
        self.assertEqual(self.problems.found, [])
        self.assertTrue((SYS_NET / "lo").exists())


class StorageTests(SynchronousTestCase):
    """The directories of file storage."""

    def found(self, allowed: str | None, **settings: object) -> list[str]:
        """The problems on a node that allows these directories."""
        paths, problems = Paths(Path(self.mktemp()).absolute()), Problems()
        paths.conf_dir.mkdir(parents=True)
        if allowed is not None:
            paths.file_storage_paths_file.write_text(allowed)
        check_storage(paths, InitSettings(cluster_name="c", **settings), problems)
        return problems.found

    def test_allowed(self) -> None:
        """A listed directory, and one below it, will do, with a slash at the end, too."""
        for directory in ("/srv/a", "/srv/a/", "/srv/a/b"):
            found = self.found("/srv/a\n/srv/b\n", file_storage_dir=directory, shared_file_storage_dir="/srv/b")
            self.assertEqual(found, [])

    def test_not_allowed(self) -> None:
        """Another is refused with those that are allowed, and so is every one where there is no list."""
        (line,) = self.found("/srv/a\n", enabled_disk_templates=["file"], file_storage_dir="/tmp/other")
        self.assertIn("'/tmp/other'", line)
        self.assertIn("/srv/a", line)
        (line,) = self.found(None, enabled_disk_templates=["sharedfile"])
        self.assertIn("file-storage-paths does not exist", line)
        (line,) = self.found("/srv/a\n", enabled_disk_templates=["file"], file_storage_dir="relative")
        self.assertIn("'relative", line)

    def test_not_enabled(self) -> None:
        """The directory of a template that is not enabled is nobody's concern."""
        self.assertEqual(self.found(None, enabled_disk_templates=["diskless"]), [])
