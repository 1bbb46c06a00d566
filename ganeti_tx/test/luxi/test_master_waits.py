"""What commands say of a master that does not listen."""

import errno
import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi.daemon import LUXI_DAEMON, connect_error
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import claim_pid_file


class MasterWaitsTests(SynchronousTestCase):
    """A client that cannot connect."""

    def setUp(self) -> None:
        """A node on which nothing runs."""
        self.root = Path(self.mktemp()).resolve()
        self.paths = Paths(self.root)
        self.paths.run_dir.mkdir(parents=True)
        self.patch(os, "environ", {**os.environ, "GANETI_ROOTDIR": str(self.root)})

    def told(self, path: Path | None = None) -> str:
        """What is said, on one line."""
        failed = OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        return str(connect_error(LUXI_DAEMON, str(path or self.paths.query_socket), failed))

    def test_nothing_is_known(self) -> None:
        """It is not running; nor is another socket the master's."""
        self.assertIn("it is not running on this node. Start it", self.told())
        self.paths.master_waits_file.write_text("nobody answers")
        self.assertIn("it is not running on this node. Start it", self.told(self.root / "other"))

    def test_waits(self) -> None:
        """A daemon that runs waits for what it has left; one that does not has ended for it. It is one line, and not long."""
        self.paths.master_waits_file.write_text("only 1 of 3\x1b[1m nodes agree\n" + 9000 * "x")
        told = self.told()
        self.assertIn("it has ended, since it could not be the master: only 1 of 3 [1m nodes agree xxx", told)
        self.assertLess(len(told), 5000)
        self.addCleanup(claim_pid_file(self.paths.pid_file("ganeti-luxid")).release)
        self.assertIn("it waits to be the master: only 1 of 3", self.told())

    def test_link(self) -> None:
        """No link is followed: others may write into that directory, too."""
        self.paths.master_waits_file.symlink_to("/etc/passwd")
        self.assertIn("it is not running on this node", self.told())
