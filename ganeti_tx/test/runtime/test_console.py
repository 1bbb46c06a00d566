"""What a log cannot take is said on the machine's console."""

import errno
import os
import subprocess
import sys
from pathlib import Path

from twisted.logger import Logger
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.errors import ExitCode
from ganeti_tx.runtime.console import console, lost, otherwise_of
from ganeti_tx.runtime.daemon_log import LogText, daemon_log, output_log
from ganeti_tx.runtime.paths import Paths


class ConsoleTests(SynchronousTestCase):
    """A file is the console."""

    def setUp(self) -> None:
        self.device = Path(self.mktemp())
        self.device.touch()
        self.console = console("ganeti-noded", self.device)
        self.disk = Path(self.mktemp()).absolute()

    def said(self) -> list[str]:
        """What is on the console, without times."""
        return [line.split("] ", 1)[-1] for line in self.device.read_text().splitlines()]

    def small_disk(self) -> None:
        """A file system of one page."""
        self.disk.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4k", "none", str(self.disk)], capture_output=True, text=True
        )
        if done.returncode != 0:
            raise SkipTest(f"nothing can be mounted here: {done.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.disk)], check=True)

    def test_full_disk(self) -> None:
        """While the disk is full lines go to the console, each whole and once, and into the log again afterwards."""
        self.small_disk()
        path = self.disk / "log"
        log = Logger(observer=daemon_log(path, self.console))
        log.info("first")
        path.write_bytes(b"x" * 4096)
        log.info("two\nlines")
        self.assertEqual(self.said(), ["two", "ganeti-noded: \tlines"])
        path.write_bytes(b"")
        log.info("last")
        self.assertEqual(len(self.said()), 2)
        self.assertTrue(path.read_text().endswith("last\n"))

    def test_read_only(self) -> None:
        """So they do when it is read-only, also from the start on; who has no console does not start."""
        self.small_disk()
        subprocess.run(["mount", "-o", "remount,ro", str(self.disk)], check=True)
        path = self.disk / "log"
        self.assertRaises(OSError, daemon_log, path)
        Logger(observer=daemon_log(path, self.console)).info("ready")
        self.assertEqual(len(self.said()), 2)
        self.assertIn(f"{path} cannot be written to, so that this is the log:", self.said()[0])
        self.assertIn("Read-only file system", self.said()[0])
        self.assertEqual(self.said()[1], "ready")

    def test_broken_disk(self) -> None:
        """Nor does a broken disk keep anything from being said."""

        def broken(_data: bytes) -> None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

        self.assertEqual(LogText(broken, self.console).write("a line\n"), 0)
        self.assertEqual(self.device.read_text(), "ganeti-noded: a line\n")

    def test_wrong_place(self) -> None:
        """A log that cannot be for another reason is an error, console or not."""
        self.assertRaises(FileNotFoundError, daemon_log, self.disk / "log", self.console)
        self.assertEqual(self.said(), [])

    def test_output(self) -> None:
        """In the foreground the same holds for standard output; what it did not take does not come later."""
        with open("/dev/full", "w") as out:
            Logger(observer=output_log(out, self.console)).info("ready")
        self.assertEqual(self.said(), ["ready"])
        reading, writing = os.pipe()
        with os.fdopen(writing, "w") as pipe:
            observer = output_log(pipe, self.console)
            Logger(observer=observer).info("read")
            self.assertTrue(os.read(reading, 999).endswith(b"read\n"))
            os.close(reading)
            Logger(observer=observer).info("not read")
        self.assertEqual(self.said(), ["ready", "not read"])

    def test_no_console(self) -> None:
        """Where there is none, or a full one, lines are lost without a sound."""
        for device in (self.device / "nowhere", Path("/dev/full")):
            console("ganeti-noded", device)("a line\n")

    def test_whose(self) -> None:
        """The console is the node daemon's of a machine, not of others, nor of a node that is a part of one."""
        self.assertIsNot(otherwise_of("ganeti-noded", Paths(Path("/"))), lost)
        self.assertIs(otherwise_of("ganeti-rapi", Paths(Path("/"))), lost)
        self.assertIs(otherwise_of("ganeti-noded", Paths(Path("/srv/node1"))), lost)


#: A machine whose disk for logs is full, and which is in no cluster.
MACHINE = """
for directory in /var/lib /run; do mount -t tmpfs none $directory; done; mkdir /run/lock
mount -t tmpfs -o size=4k none /var/log; mkdir /var/log/ganeti; head -c 4096 /dev/zero > /var/log/filler
mount --bind "$1" /dev/console
exec "$2" -c 'from ganeti_tx.daemons import noded; raise SystemExit(noded())' $3
"""


class DaemonOnConsoleTests(SynchronousTestCase):
    """The node daemon as a process with root's rights and mounts of its own."""

    def test_start(self) -> None:
        """With no room for its log it says on the console what it is about."""
        if os.geteuid() != 0:
            raise SkipTest("only root mounts file systems")
        device = Path(self.mktemp()).absolute()
        device.touch()
        script = ["unshare", "-m", "sh", "-ec", MACHINE, "sh", str(device), sys.executable]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GANETI_HOSTNAME": "node1.example.com"}
        environment.pop("GANETI_ROOTDIR", None)
        done = subprocess.run(script, capture_output=True, text=True, timeout=120, env=environment)
        self.assertEqual(done.returncode, ExitCode.NODESETUP_ERROR, done.stderr)
        said = device.read_text()
        self.assertIn("fatal: ", said)
        self.assertTrue(all(line.startswith("ganeti-noded: ") for line in said.splitlines()), said)
