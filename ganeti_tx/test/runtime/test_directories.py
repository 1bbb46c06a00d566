"""The directories of a node."""

import os
import re
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

import ganeti_tx
from ganeti_tx.runtime.directories import ensure_directories, ensure_lock_directory
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.owner_repair import TOPS, move_foreign
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, FILE_MODES, MOUNT_POINT_MODES, USERS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles

PACKAGE = Path(ganeti_tx.__file__).parent
NOBODY = 65534


class EnsureDirectoriesTests(SynchronousTestCase):
    """Creating and repairing."""

    def test_real(self) -> None:
        """On a disk, every directory is there with exactly its mode, and a second time changes nothing."""
        paths = Paths(Path(self.mktemp()).absolute())
        files = RealFiles(InlineThreads())
        for _ in range(2):
            ensure_directories(paths, files)
        modes = {path: files.stat(paths.root / path[1:]).mode for path in DIRECTORY_MODES}
        self.assertEqual(modes, {path: wanted.mode for path, wanted in DIRECTORY_MODES.items()})
        self.assertEqual(files.stat(paths.queue_archive_dir).mode, 0o750)
        self.assertEqual(files.stat(paths.socket_dir).mode, 0o770)

    def test_repair(self) -> None:
        """A directory with a wrong mode gets the right one; the administrator's keep theirs."""
        paths, files = Paths(Path("/node")), MemoryFiles()
        files.mkdir(paths.crypto_keys_dir, 0o777)
        files.mkdir(paths.conf_dir, 0o700)
        ensure_directories(paths, files)
        self.assertEqual(files.stat(paths.crypto_keys_dir).mode, 0o700)
        self.assertEqual(files.stat(paths.conf_dir).mode, 0o700)

    def test_locks(self) -> None:
        """Nobody but root comes to the locks that anybody could take first; the watcher may come before all daemons."""
        paths = Paths(Path(self.mktemp()).absolute())
        files = RealFiles(InlineThreads())
        ensure_lock_directory(paths, files)
        self.assertEqual((files.stat(paths.lock_dir.parent).mode, files.stat(paths.lock_dir).mode), (0o755, 0o700))
        paths.lock_dir.chmod(0o777)
        ensure_lock_directory(paths, files)
        self.assertEqual(files.stat(paths.lock_dir).mode, 0o700)
        row = DIRECTORY_MODES[str(Paths().lock_dir)]
        self.assertEqual((row.mode, USERS[row.owner]), (0o700, "root"))
        self.assertIn(Paths().lock_dir, TOPS, "no daemon of another user may write above it")
        for path in (paths.watcher_lock_file, paths.watcher_group_lock_file("a"), paths.restricted_commands_lock_file):
            self.assertEqual(path.parent, paths.lock_dir)

    def test_foreign(self) -> None:
        """What others have made in the place of a directory of root's is not given to root with all that is in it."""
        if os.geteuid() != 0:
            raise SkipTest("only root can give a directory to somebody else")
        top = Path(self.mktemp())
        (top / "theirs").mkdir(parents=True)
        (top / "theirs/record").touch()
        (top / "link").symlink_to("own")
        (top / "own").mkdir()
        for name in ("theirs", "link"):
            os.chown(top / name, NOBODY, NOBODY, follow_symlinks=False)
        parent = os.open(top, os.O_PATH)
        self.addCleanup(os.close, parent)
        for name in ("theirs", "link", "own", "gone"):
            move_foreign(name, parent)
        self.assertEqual(
            sorted(path.name.partition("-")[0] for path in top.iterdir()), ["link.foreign", "own", "theirs.foreign"]
        )
        self.assertEqual([path.name for path in top.glob("theirs*/*")], ["record"])

    def test_each_has_an_owner(self) -> None:
        """Where the daemons' users may write, each directory is made for its owner at boot, or lies in one of root's alone."""
        paths, table = Paths(), DIRECTORY_MODES | MOUNT_POINT_MODES
        of_root = {Path(path) for path, row in table.items() if USERS[row.owner] == "root" and not row.mode & 0o022}
        directories = [getattr(paths, name) for name in dir(Paths) if name.endswith("_dir")]
        shared = [path for path in directories if {paths.run_dir, paths.log_dir} & {*path.parents}]
        self.assertGreater(len(shared), 30)
        self.assertEqual([path for path in shared if str(path) not in table and not of_root & {*path.parents}], [])

    def test_no_other(self) -> None:
        """Nobody names a directory there that `Paths`, and so the test before, does not know."""
        named = re.compile(r"\b(?:run|log)_dir / \"")
        sources = [path for path in PACKAGE.rglob("*.py") if not path.is_relative_to(PACKAGE / "test")]
        self.assertEqual([path for path in sources if named.search(path.read_text("utf-8"))], [])

    def test_tables(self) -> None:
        """Keys are never open to others."""
        self.assertEqual(FILE_MODES["/var/lib/ganeti/server.pem"].mode, 0o440)
        keys = {path for path in FILE_MODES if path.endswith((".pem", ".key"))} - {"/var/lib/ganeti/ca.pem"}
        self.assertEqual({FILE_MODES[path].mode & 0o7 for path in keys}, {0})
