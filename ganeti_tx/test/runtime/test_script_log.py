"""What is told of a script that failed."""

import os
from pathlib import Path
from types import SimpleNamespace

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpExecError
from ganeti_tx.runtime import script_log
from ganeti_tx.runtime.script_log import ScriptLog, log_end, open_log

NOBODY = 65534


class OpenLogTests(SynchronousTestCase):
    """Where others could be first."""

    def setUp(self) -> None:
        self.top = Path(self.mktemp())
        self.top.mkdir()

    def refused(self, directory: Path) -> str:
        """Why no log is made there."""
        return str(self.assertRaises(OpExecError, open_log, directory, "attach-web1"))

    def test_link(self) -> None:
        """A link in the place of the directory is not followed."""
        (self.top / "victim").mkdir()
        (self.top / "logs").symlink_to("victim")
        self.assertIn("logs is not used: it is a link; move it away", self.refused(self.top / "logs"))
        self.assertEqual(os.listdir(self.top / "victim"), [])

    def test_of_others(self) -> None:
        """A directory that others may write to is not used, nor one of somebody else's."""
        logs = self.top / "logs"
        logs.mkdir()
        logs.chmod(0o770)
        self.assertIn(f"{logs} is not used: others may have put links into it", self.refused(logs))
        logs.chmod(0o750)
        if os.geteuid() == 0:
            os.chown(logs, NOBODY, NOBODY)
        else:
            self.patch(os, "geteuid", lambda: NOBODY)
        self.assertIn(f"belongs to user {logs.stat().st_uid}", self.refused(logs))
        self.assertEqual(os.listdir(logs), [])


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


class HideTests(SynchronousTestCase):
    """What is taken out of a log that is read in pieces of eight bytes."""

    def setUp(self) -> None:
        self.patch(script_log, "CHUNK", 8)

    def hidden(self, said: bytes, *values: str) -> str:
        """What is left of it; always as long."""
        log = open_log(Path(self.mktemp()), "add-noop-web1")
        try:
            os.write(log.descriptor, said)
            log.hide(values)
        finally:
            log.close()
        return log.path.read_text()

    def test_anywhere(self) -> None:
        """A value is found wherever it begins, also one that is longer than a piece."""
        for value in ("s3cr", "seven77", "s3cret-of-many-letters"):
            for before in range(20):
                said = f"{'-' * before}{value}|{value}{value}|{value[:-1]}|"
                stars = "*" * len(value)
                self.assertEqual(
                    self.hidden(said.encode(), value), f"{'-' * before}{stars}|{stars}{stars}|{value[:-1]}|"
                )

    def test_within_each_other(self) -> None:
        """Of values that overlap nothing is left, wherever the pieces end."""
        for before in range(20):
            said = "-" * before + "topsecretword secret, word"
            stars = "-" * before + "************* ******, word"
            self.assertEqual(self.hidden(said.encode(), "topsecret", "secretword", "secret"), stars)

    def test_reads(self) -> None:
        """All is read once, however often a value is there."""
        reads: list[int] = []
        pread = os.pread

        def counted(descriptor: int, length: int, offset: int) -> bytes:
            reads.append(length)
            return pread(descriptor, length, offset)

        self.patch(os, "pread", counted)
        self.assertEqual(self.hidden(b"pass" * 400, "pass"), "*" * 1600)
        self.assertLess(sum(reads), 1700)
