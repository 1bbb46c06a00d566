"""What is told of a script that failed."""

import os
from pathlib import Path
from types import SimpleNamespace

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.script_log import ScriptLog, log_end, open_log


class LogEndTests(SynchronousTestCase):
    """The end of a log in a directory of the test's own."""

    def setUp(self) -> None:
        self.log: ScriptLog = open_log(Path(self.mktemp()), "add-noop-web1")
        self.addCleanup(self.log.close)

    def fill_disk(self) -> None:
        """Nobody can write any more."""
        self.patch(os, "fstatvfs", lambda descriptor: SimpleNamespace(f_blocks=100, f_bavail=0))

    def test_said(self) -> None:
        """Its last lines, or that there are none."""
        self.assertEqual(log_end(self.log), f"log {self.log.path} ends with: nothing")
        os.write(self.log.descriptor, b"one\n\ntwo\n")
        self.assertEqual(log_end(self.log), f"log {self.log.path} ends with: one | two")

    def test_full(self) -> None:
        """A script that could say nothing, or not all, as the disk is full."""
        self.fill_disk()
        self.assertEqual(log_end(self.log), f"the disk of {self.log.path} is full")
        os.write(self.log.descriptor, b"one\n")
        self.assertEqual(log_end(self.log), f"log {self.log.path} ends with: one; the disk of {self.log.path} is full")

    def test_unreadable(self) -> None:
        """Why it cannot be read."""
        broken = ScriptLog(self.log.path, -1)
        self.assertEqual(log_end(broken), f"log {self.log.path} ends with: unreadable: Bad file descriptor")
