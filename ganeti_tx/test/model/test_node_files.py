"""The files of a node are those of the table: where, with which mode, and whose."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.node_files import FILES, SERVER_CERTIFICATE, SSCONF, Holder, Sending
from ganeti_tx.runtime.path_modes import FILE_MODES, GROUPS, USERS, PathMode, mode_of
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.model.facts_table import FACTS

OTHERS_READ = 0o004
#: Directories that hold nothing but what the cluster keeps on a node; the job queue has rules of its own.
DATA = "/var/lib/ganeti/"
LOCAL = ("queue/",)


class NodeFileTests(SynchronousTestCase):
    """One declaration a file."""

    def test_modes(self) -> None:
        """Mode, owner and group of each file of the table, and each file of the data directory is declared."""
        for path, (mode, owner, group) in FACTS["file_modes"].items():
            self.assertEqual(mode_of(path), PathMode(mode=int(mode, 8), owner=owner, group=group), path)
            if path.startswith(DATA) and not path.removeprefix(DATA).startswith(LOCAL):
                self.assertEqual(len([file for file in FILES if file.is_at(path)]), 1, path)

    def test_declarations(self) -> None:
        """No path twice, owners that there are, and nobody else reads what is secret."""
        self.assertEqual(len({file.path for file in FILES}), len(FILES))
        for file in FILES:
            self.assertIn(file.owner, USERS)
            self.assertIn(file.group, GROUPS)
            self.assertFalse(file.secret and file.mode & OTHERS_READ, file.path)
            self.assertFalse(file.held_by is Holder.MASTER and file.sent is not Sending.NEVER, file.path)

    def test_own_key_goes_last(self) -> None:
        """A node that fails while it leaves can be told again, as long as it has its key."""
        self.assertIs([file for file in FILES if file.of_cluster][-1], SERVER_CERTIFICATE)

    def test_families(self) -> None:
        """A family is all files of such names in its directory, and no others."""
        self.assertTrue(SSCONF.is_at("/var/lib/ganeti/ssconf_master_node"))
        for path in ("/var/lib/ganeti/rapi/ssconf_x", "/var/lib/ganeti/ssconf", "/srv/var/lib/ganeti/ssconf_x"):
            self.assertFalse(SSCONF.is_at(path))
        paths = Paths(Path(self.mktemp()).absolute())
        paths.data_dir.mkdir(parents=True)
        self.assertEqual((paths.present(SSCONF), paths.present(SERVER_CERTIFICATE)), ([], []))
        for there in (paths.ssconf_file("b"), paths.ssconf_file("a"), paths.server_pem):
            there.touch()
        self.assertEqual(paths.present(SSCONF), [paths.ssconf_file("a"), paths.ssconf_file("b")])
        self.assertEqual(paths.present(SERVER_CERTIFICATE), [paths.server_pem])

    def test_the_administrators(self) -> None:
        """What is not the cluster's own is neither given to its users nor removed."""
        own = [file.path for file in FILES if not file.of_cluster]
        self.assertEqual(own, ["/etc/ganeti/file-storage-paths", "/etc/ganeti/distributed-files"])
        self.assertNotIn("/etc/ganeti/file-storage-paths", FILE_MODES)
