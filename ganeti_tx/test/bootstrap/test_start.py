"""Starting and ending daemons: what is believed of pid files."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.start import is_running, running, stop, stop_all
from ganeti_tx.runtime.daemon_names import ALL
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import claim_pid_file


class PidFileTests(SynchronousTestCase):
    """Whether a daemon runs."""

    def setUp(self) -> None:
        """A node without daemons."""
        self.paths = Paths(Path(self.mktemp()).absolute())
        self.file = self.paths.pid_file("ganeti-noded")
        self.file.parent.mkdir(parents=True)

    def test_nothing(self) -> None:
        """Without a pid file nothing runs, and there is nothing to end."""
        self.assertFalse(is_running(self.paths, "ganeti-noded"))
        stop(self.paths, "ganeti-noded")

    def test_held(self) -> None:
        """A daemon that runs holds its file."""
        held = claim_pid_file(self.file)
        self.assertEqual(running(self.paths, "ganeti-noded"), os.getpid())
        held.release()
        self.assertFalse(is_running(self.paths, "ganeti-noded"))

    def test_left_behind(self) -> None:
        """The process that a crashed daemon's file names may be anybody's by now: it is left alone."""
        self.file.write_text(f"{os.getpid()}\n")
        self.assertIsNone(running(self.paths, "ganeti-noded"))
        stop(self.paths, "ganeti-noded")


class StopAllTests(SynchronousTestCase):
    """Ending every daemon of a node."""

    def test_one_stays(self) -> None:
        """A daemon that does not end keeps no other one alive, and is named."""
        asked: list[str] = []

        def end(paths: Paths, daemon: str) -> None:
            asked.append(daemon)
            if daemon == "ganeti-rapi":
                raise BootstrapError("ganeti-rapi (process 7) does not end")

        self.assertEqual(stop_all(Paths(), end), ["ganeti-rapi (process 7) does not end"])
        self.assertEqual(sorted(asked), sorted(ALL))
        self.assertLess(asked.index("ganeti-rapi"), asked.index("ganeti-noded"))
