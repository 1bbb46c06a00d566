"""Which daemons the supervisor takes for dead, by their pid files."""

import tempfile
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster.layout import Layout, plan
from ganeti_tx.devcluster.supervising import PID_FILE, pid_files, stop_supervisor
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import claim_pid_file

MASTER, LUXID, WCONFD = "ganeti-master", "ganeti-luxid", "ganeti-wconfd"


class PidFileTests(SynchronousTestCase):
    """One node's run directory."""

    def setUp(self) -> None:
        """No pid file yet."""
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.layout: Layout = plan(Path(directory.name) / "c", 1)
        self.paths = Paths(self.layout.master.root)
        self.paths.run_dir.mkdir(parents=True)

    def lives(self) -> dict[str, bool]:
        """What the supervisor sees."""
        return {daemon: living for (_, daemon), living in pid_files(self.layout).items()}

    def run_daemons(self, *daemons: str) -> None:
        """They hold their pid files until the test ends."""
        for daemon in daemons:
            self.addCleanup(claim_pid_file(self.paths.pid_file(daemon)).release)

    def leave(self, *daemons: str) -> None:
        """They died."""
        for daemon in daemons:
            self.paths.pid_file(daemon).write_text("4711\n")

    def test_nothing(self) -> None:
        """What has no pid file is not known: it was never started, or was stopped."""
        self.assertEqual(self.lives(), {})

    def test_life_and_death(self) -> None:
        """A file that is held is a life, one that is not is a death."""
        self.run_daemons("ganeti-noded")
        self.leave("ganeti-confd")
        self.assertEqual(self.lives(), {"ganeti-noded": True, "ganeti-confd": False})

    def test_master_died(self) -> None:
        """ganeti-master has the files of its parts as well; only it is started again."""
        self.leave(MASTER, LUXID, WCONFD)
        self.assertEqual(self.lives(), {MASTER: False})

    def test_parts(self) -> None:
        """Where a part runs apart, the file that ganeti-master left is of no account."""
        self.leave(MASTER, LUXID)
        self.run_daemons(WCONFD)
        self.assertEqual(self.lives(), {LUXID: False, WCONFD: True})

    def test_no_supervisor(self) -> None:
        """To end a supervisor that does not run, or that died, is no error."""
        self.assertFalse(stop_supervisor(self.layout.root))
        (self.layout.root / PID_FILE).write_text("4711\n")
        self.assertFalse(stop_supervisor(self.layout.root))
