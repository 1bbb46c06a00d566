"""The directories of a node."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.directories import ensure_directories, ensure_lock_directory
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.owner_repair import TOPS
from ganeti_tx.runtime.path_modes import DIRECTORY_MODES, FILE_MODES, USERS
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles


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

    def test_tables(self) -> None:
        """Keys are never open to others."""
        self.assertEqual(FILE_MODES["/var/lib/ganeti/server.pem"].mode, 0o440)
        keys = {path for path in FILE_MODES if path.endswith((".pem", ".key"))} - {"/var/lib/ganeti/ca.pem"}
        self.assertEqual({FILE_MODES[path].mode & 0o7 for path in keys}, {0})
