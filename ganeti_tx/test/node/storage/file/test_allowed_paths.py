"""Tests of which paths file storage may use."""

import os
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import FileStoragePathError
from ganeti_tx.node.storage.file.allowed_paths import AllowedPaths
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles


class AllowedPathsTests(SynchronousTestCase):
    """The administrator's list."""

    def setUp(self) -> None:
        self.root = Path(os.path.realpath(self.mktemp()))
        (self.root / "srv/pool").mkdir(parents=True)

    def listing(self, text: str, root: Path = Path("/")) -> AllowedPaths:
        """A node with this list."""
        files, paths = MemoryFiles(), Paths(root)
        files.mkdir(paths.conf_dir)
        self.successResultOf(Deferred.fromCoroutine(files.write_atomic(paths.file_storage_paths_file, text.encode())))
        return AllowedPaths(files, paths)

    def refused(self, allowed: AllowedPaths, path: str) -> str:
        """The one line of the refusal."""
        return str(self.assertRaises(FileStoragePathError, allowed.check, path))

    def test_below(self) -> None:
        """What is below a listed directory is allowed; comments and blank lines list nothing."""
        allowed = self.listing("# pools\n\n  /srv/a \n#/srv/b\n")
        self.assertEqual(allowed.check("/srv/a/web1/disk0"), Path("/srv/a/web1/disk0"))
        self.assertEqual(allowed.directories(), [Path("/srv/a")])
        self.assertEqual(allowed.check_directory("/srv/a"), Path("/srv/a"))

    def test_not_below(self) -> None:
        """A listed directory itself, its neighbour and what only begins alike are refused, naming what is allowed."""
        allowed = self.listing("/srv/a\n")
        for path in ("/srv/a", "/srv/ab/disk0", "/srv/b/disk0", "/srv"):
            self.assertIn("/srv/a", self.refused(allowed, path))

    def test_dots(self) -> None:
        """No relative path, and none that steps up, even when it comes back."""
        allowed = self.listing("/srv/a\n")
        for path in ("srv/a/x", "/srv/a/../b/x", "/srv/a/../a/x", "", "/", "/srv/a/x\0"):
            self.assertIn("absolute", self.refused(allowed, path))

    def test_run_directory(self) -> None:
        """What is listed of the run directory is where it says: the daemons' users may put links there."""
        run_dir = Paths(self.root).run_dir
        run_dir.mkdir(parents=True)
        allowed = self.listing(f"{run_dir}/gluster\n", self.root)
        (run_dir / "gluster").mkdir()
        self.assertEqual(allowed.directories(), [run_dir / "gluster"])
        (run_dir / "gluster").rmdir()
        (run_dir / "gluster").symlink_to(self.root / "srv/pool")
        self.assertEqual(allowed.directories(), [])
        self.assertIn(f"a link in {run_dir}, which others may have put there", allowed.faults()[0])

    def test_system_directories(self) -> None:
        """System directories are refused though listed."""
        listed = ["/bin", "/etc", "/usr", "/usr/local/pool", "/boot", "/dev", "/lib64", "/proc", "/sbin", "/sys"]
        allowed = self.listing("".join(f"{each}\n" for each in [*listed, "/home", "/root/x", "/srv/a"]))
        for each in listed:
            self.assertIn("inside", self.refused(allowed, f"{each}/disk0"))
        self.assertIn("inside /home", self.refused(allowed, "/home/u/disk0"))
        self.assertEqual(allowed.directories(), [Path("/srv/a")])
        self.assertEqual(len(allowed.faults()), len(listed) + 2)

    def test_own_root(self) -> None:
        """A node with a root of its own protects its own system directories, and may live in a home directory."""
        root = Path("/home/u/node1")
        allowed = self.listing("/home/u/node1/srv\n/home/u/node1/etc\n", root)
        self.assertEqual(allowed.check("/home/u/node1/srv/d"), Path("/home/u/node1/srv/d"))
        self.assertIn("inside", self.refused(allowed, "/home/u/node1/etc/d"))
        self.assertIn("inside /etc", self.refused(self.listing("/etc\n", root), "/etc/passwd"))

    def test_listed_link(self) -> None:
        """A listed directory may be a link to where there is room, but not into the system."""
        (self.root / "room").symlink_to(self.root / "srv/pool")
        (self.root / "trick").symlink_to("/etc")
        allowed = self.listing(f"{self.root}/room\n{self.root}/trick\n")
        self.assertEqual(allowed.check(f"{self.root}/room/web1/d"), self.root / "room/web1/d")
        self.assertIn("inside", self.refused(allowed, f"{self.root}/trick/d"))

    def test_link_out(self) -> None:
        """A link below a listed directory that leads out of it is refused."""
        (self.root / "srv/pool/web1").symlink_to(self.root)
        self.assertIn(
            "not allowed", self.refused(self.listing(f"{self.root}/srv/pool\n"), f"{self.root}/srv/pool/web1/d")
        )

    def test_no_list(self) -> None:
        """Without a list nothing is allowed, and the refusal names the file that is missing; that is no fault of it."""
        allowed = AllowedPaths(MemoryFiles(), Paths())
        self.assertIn("/etc/ganeti/file-storage-paths does not exist", self.refused(allowed, "/srv/a/x"))
        self.assertEqual(allowed.faults(), [])

    def test_long_list(self) -> None:
        """A list beyond its limit is refused whole."""
        allowed = self.listing("/srv/a\n" * 20000)
        self.assertIn("cannot be read", self.refused(allowed, "/srv/a/x"))
        self.assertEqual(len(allowed.faults()), 1)
