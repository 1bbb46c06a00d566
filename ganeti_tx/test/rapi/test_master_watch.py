"""When another node becomes the master."""

from twisted.internet.defer import ensureDeferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ExitCode
from ganeti_tx.rapi.master_watch import watch_master
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.file_watch import MemoryFileWatch
from ganeti_tx.test.fakes.files import MemoryFiles


class MasterWatchTests(SynchronousTestCase):
    """On node1."""

    def setUp(self) -> None:
        """It is the master."""
        self.files, self.paths = MemoryFiles(), Paths()
        self.files.mkdir(self.paths.data_dir)
        self.write("master_node", "node1.example.com\n")
        self.statuses: list[int] = []
        watch_master(
            self.files,
            self.paths,
            MemoryFileWatch(self.files),
            "node1.example.com",
            lambda error: self.statuses.append(error.exit_code),
        )

    def write(self, key: str, value: str) -> None:
        """As the master has it written."""
        ensureDeferred(self.files.write_atomic(self.paths.ssconf_file(key), value.encode()))

    def test_another(self) -> None:
        """The daemon leaves, and is not started again by systemd."""
        self.write("master_node", "node2.example.com\n")
        self.assertEqual(self.statuses, [ExitCode.NOTMASTER])

    def test_the_same(self) -> None:
        """It stays while nobody else is named: not when other files change, nor when the file is damaged or gone."""
        self.write("cluster_tags", "node2.example.com\n")
        self.write("master_node", "node1.example.com\n")
        self.write("master_node", "\n")
        ensureDeferred(self.files.write_atomic(self.paths.ssconf_file("master_node"), b"\xff"))
        self.files.remove(self.paths.ssconf_file("master_node"))
        self.assertEqual(self.statuses, [])
