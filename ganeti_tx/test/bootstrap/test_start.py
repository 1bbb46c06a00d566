"""Starting and ending daemons: what is believed of pid files and logs."""

import os
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.problems import BootstrapError
from ganeti_tx.bootstrap.start import fatal_line, is_ready, is_running, last_line, running, size, stop, stop_all
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

    def test_ready(self) -> None:
        """A daemon that runs has not come up before it says so; what it said in an earlier life does not count."""
        log = self.paths.log_file("ganeti-noded")
        log.parent.mkdir(parents=True)
        log.write_text("2026-01-01 [-] ganeti-noded is ready\n")
        before = size(log)
        held = claim_pid_file(self.file)
        self.assertFalse(is_ready(self.paths, "ganeti-noded", before))
        with log.open("a") as file:
            file.write("2026-01-01 [-] ganeti-noded is ready\n")
        self.assertTrue(is_ready(self.paths, "ganeti-noded", before))
        held.release()
        self.assertFalse(is_ready(self.paths, "ganeti-noded", before))

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


class LogTests(SynchronousTestCase):
    """What a log says of a failed start."""

    def setUp(self) -> None:
        """The log of an earlier start that failed."""
        self.log = Path(self.mktemp())
        self.log.write_text("2026-01-01 [-] fatal: no cluster\n")

    def test_fatal(self) -> None:
        """The last fatal line counts."""
        self.assertEqual(fatal_line(self.log), "no cluster")

    def test_only_what_is_new(self) -> None:
        """An earlier failure says nothing about this start; a new one does, also in a log that was begun anew."""
        old = size(self.log)
        self.assertEqual(fatal_line(self.log, old), "")
        with self.log.open("a") as file:
            file.write("2026-01-01 [-] fatal: port in use\n")
        self.assertEqual(fatal_line(self.log, old), "port in use")
        self.log.write_text("fatal: disk full\n")
        self.assertEqual(fatal_line(self.log, old), "disk full")

    def test_no_log(self) -> None:
        """A log that is not there says nothing."""
        self.assertEqual((fatal_line(Path("/nonexistent/log")), size(Path("/nonexistent/log"))), ("", 0))

    def test_last_line(self) -> None:
        """The last line with words in it."""
        self.assertEqual((last_line("a\nb\n \n"), last_line("")), ("b", ""))
