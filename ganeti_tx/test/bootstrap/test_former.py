"""The keys of a member that is set up anew."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap import former
from ganeti_tx.bootstrap.keys import AT_JOIN
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES
from ganeti_tx.runtime.paths import Paths


class FormerTests(SynchronousTestCase):
    """In a directory of their own."""

    def setUp(self) -> None:
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.paths.data_dir.mkdir(parents=True)
        self.paths.run_dir.mkdir(parents=True)
        for file in AT_JOIN:
            self.paths.of(file).write_text(f"old {file.path}")

    def test_put_back(self) -> None:
        """They come back as they were, with their modes, and are nowhere else any more."""
        former.keep(self.paths)
        self.assertEqual(former.directory(self.paths).stat().st_mode & 0o777, 0o700)
        for file in AT_JOIN:
            self.paths.of(file).write_text("new")
        self.assertTrue(former.is_kept(self.paths))
        former.put_back(self.paths)
        for file in AT_JOIN:
            self.assertEqual(self.paths.of(file).read_text(), f"old {file.path}")
        self.assertEqual(self.paths.server_pem.stat().st_mode & 0o777, 0o440)
        self.assertFalse(former.directory(self.paths).exists())

    def test_of_a_daemon(self) -> None:
        """What stands in the directories that are the daemons' users' own is nobody's former keys (they could put it there)."""
        mine = [Path(path) for path in DIRECTORY_MODES]
        place = Path("/") / former.directory(self.paths).relative_to(self.paths.root)
        self.assertEqual([path for path in mine if place.is_relative_to(path)], [])

    def test_drop(self) -> None:
        """A node that was no member has none."""
        former.keep(self.paths)
        former.drop(self.paths)
        self.assertFalse(former.is_kept(self.paths))
