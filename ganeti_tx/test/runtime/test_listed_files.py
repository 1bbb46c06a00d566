"""Links on the way to a file that goes to all nodes."""

import errno
from collections.abc import Callable
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.listed_files import listed_place, read_listed
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads

CLOSED = "nothing below /var/lib/ganeti is sent"


class LinkTests(SynchronousTestCase):
    """A node on a real disk."""

    def setUp(self) -> None:
        self.paths, self.files = Paths(Path(self.mktemp()).absolute()), RealFiles(InlineThreads())
        for path in (self.paths.data_dir, self.paths.root / "srv", self.paths.root / "run"):
            path.mkdir(parents=True)
        (self.paths.data_dir / "mine").write_text("secret")
        (self.paths.root / "srv/vif").write_text("#!")

    def link(self, path: str, target: str) -> None:
        """A link on the node; a whole target is on the node too."""
        inside = f"{self.paths.root}{target}" if target.startswith("/") else target
        (self.paths.root / path.lstrip("/")).symlink_to(inside)

    def refused(self, path: str, why: str) -> None:
        """It is neither read nor written."""
        for failure in (
            self.assertRaises(ValueError, listed_place, self.files, self.paths, path),
            self.assertRaises(ValueError, self.reading(path)),
        ):
            self.assertIn(why, str(failure), path)

    def reading(self, path: str) -> Callable[[], tuple[bytes, int]]:
        """To read it."""
        return lambda: read_listed(self.files, self.paths, path, 99)

    def test_followed(self) -> None:
        """Links that lead nowhere forbidden are as good as what they lead to; so is a place where nothing is yet."""
        self.link("/srv/other", "vif")
        self.link("/scripts", "/srv")
        for path in ("/srv/vif", "/srv/other", "/scripts/vif"):
            self.assertEqual(self.reading(path)()[0], b"#!")
        self.assertEqual(listed_place(self.files, self.paths, "/new/file"), self.paths.root / "new/file")

    def test_refused(self) -> None:
        """No link leads to what is closed: by its own target, by one on the way, by several, or upwards."""
        self.link("/srv/whole", "/var/lib/ganeti/mine")
        self.link("/srv/upwards", "../var/lib/ganeti/mine")
        self.link("/data", "/var/lib/ganeti")
        self.link("/again", "/data")
        self.link("/srv/new", "/var/lib/ganeti/new")
        for path in ("/srv/whole", "/srv/upwards", "/data/mine", "/again/mine", "/again/new", "/srv/new"):
            self.refused(path, CLOSED)
        self.link("/srv/key", "/var/lib/ganeti/server.pem")
        self.refused("/srv/key", "the cluster sends it by itself")

    def test_moved(self) -> None:
        """Where the closed directory is a link itself, what it leads to is closed."""
        self.paths.data_dir.rename(self.paths.root / "srv/data")
        self.link("/var/lib/ganeti", "/srv/data")
        self.refused("/srv/data/mine", CLOSED)

    def test_endless(self) -> None:
        """Links that lead round."""
        self.link("/srv/a", "b")
        self.link("/srv/b", "a")
        failure = self.assertRaises(OSError, self.reading("/srv/a"))
        self.assertEqual(failure.errno, errno.ELOOP)

    def test_written_differently(self) -> None:
        """Two slashes hide nothing."""
        for path in ("//var/lib/ganeti/mine", "//srv/vif", "/srv/", "/srv/../srv/vif"):
            self.refused(path, "give the whole path")
