"""The log files of daemons in the background."""

import os
from pathlib import Path

from twisted.internet.protocol import DatagramProtocol
from twisted.internet.testing import MemoryReactorClock
from twisted.internet.udp import Port
from twisted.logger import Logger, globalLogPublisher
from twisted.python import log
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.appended_file import AppendedFile
from ganeti_tx.runtime.daemon_log import LogText, WhileRead, daemon_log


class DaemonLogTests(SynchronousTestCase):
    """Every line is kept, whoever writes and whoever rotates."""

    def setUp(self) -> None:
        self.path = Path(self.mktemp())

    def lines(self) -> list[str]:
        """The messages, without what is before them."""
        return [line.split("] ", 1)[1] for line in self.path.read_text().splitlines()]

    def test_two_writers(self) -> None:
        """A second start that is refused writes after the lines of the daemon that runs, and it after them."""
        running, refused = Logger(observer=daemon_log(self.path)), Logger(observer=daemon_log(self.path))
        running.info("ready")
        refused.info("fatal: it is running already")
        running.info("still here")
        self.assertEqual(self.lines(), ["ready", "fatal: it is running already", "still here"])

    def test_rotated(self) -> None:
        """A file that was moved away is left alone, and a new one begun."""
        log = Logger(observer=daemon_log(self.path))
        log.info("old")
        old = self.path.rename(f"{self.path}.1")
        log.info("new")
        self.assertEqual(self.lines(), ["new"])
        self.assertTrue(old.read_text().endswith("old\n"))

    def test_nobody_reads(self) -> None:
        """What goes to a pipe that nobody reads any more is lost without a word, each time."""
        reading, writing = os.pipe()
        with os.fdopen(writing, "w") as pipe:
            out = WhileRead(pipe)
            self.assertEqual(out.write("read\n"), 5)
            self.assertEqual(os.read(reading, 99), b"read\n")
            os.close(reading)
            self.assertEqual([out.write("not read\n") for _ in range(2)], [0, 0])
            os.dup2(os.open(os.devnull, os.O_WRONLY), writing)  # what it holds is written once more when it is closed

    def test_link_in_wait(self) -> None:
        """A link in the log's place is not followed, neither at the start nor later, and nobody waits at a pipe."""
        target = Path(self.mktemp())
        self.path.symlink_to(target)
        self.assertRaises(OSError, daemon_log, self.path)
        self.path.unlink()
        log = Logger(observer=daemon_log(self.path))
        self.path.rename(target)
        self.path.symlink_to(target)
        log.info("lost")
        self.assertEqual(target.read_bytes(), b"")
        self.path.unlink()
        os.mkfifo(self.path)
        log.info("lost")
        self.assertRaises(OSError, daemon_log, self.path)

    def test_private(self) -> None:
        """Only the owner reads it."""
        daemon_log(self.path)
        self.assertEqual(self.path.stat().st_mode & 0o777, 0o600)

    def test_quiet(self) -> None:
        """What Twisted tells of its ports is left out; all else is there, also what others say through its old log."""
        observer = daemon_log(self.path)
        protocol = DatagramProtocol()
        protocol.noisy = False
        port = Port(0, protocol, "127.0.0.1", reactor=MemoryReactorClock())
        globalLogPublisher.addObserver(observer)
        self.addCleanup(globalLogPublisher.removeObserver, observer)
        port.startListening()
        port.connectionLost()
        log.msg("somebody else is starting on this")
        self.assertEqual(self.lines(), ["somebody else is starting on this"])

    def test_nowhere(self) -> None:
        """Where no file can be the start fails; what cannot be written later is lost without a sound."""
        nowhere = Path(self.mktemp()) / "log"
        self.assertRaises(FileNotFoundError, daemon_log, nowhere)
        self.assertEqual(LogText(AppendedFile(nowhere, 0o600).write).write("a line\n"), 0)
