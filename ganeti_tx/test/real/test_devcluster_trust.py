"""ganeti-devcluster and quickstart, given a directory that another user made: nothing in it is run, nothing removed."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.devcluster.layout import plan
from ganeti_tx.devcluster.up import prepare
from ganeti_tx.test.real.programs import LIMIT, SOURCE

OTHER_USER = 54321
SCRIPTS = ("api_version", "create", "import", "export", "rename", "verify")


class OtherUsersDirectoryTests(SynchronousTestCase):
    """A whole devcluster, with an OS definition whose scripts leave a trace, in /tmp."""

    def setUp(self) -> None:
        """Everything is the other user's."""
        if os.geteuid() != 0:
            raise SkipTest("only root can give files away")
        directory = tempfile.TemporaryDirectory(prefix="gtx", dir="/tmp")
        self.addCleanup(directory.cleanup)
        Path(directory.name).chmod(0o1777)
        self.root = Path(directory.name) / "c"
        self.trace = Path(directory.name) / "trace"
        layout = plan(self.root, 1)
        prepare(layout)
        config = layout.master.root / "var/lib/ganeti/config.data"
        config.parent.mkdir(parents=True)
        config.write_text("{}")
        evil = layout.master.root / "srv/ganeti/os/evil"
        evil.mkdir()
        for script in SCRIPTS:
            (evil / script).write_text(f"#!/bin/sh\ntouch {self.trace}\n")
            (evil / script).chmod(0o755)
        for path in (self.root, *self.root.rglob("*")):
            os.chown(path, OTHER_USER, OTHER_USER, follow_symlinks=False)

    def refused(self, module: str, *words: str) -> None:
        """It ends with status 1 and one line that says whose the directory is and what to do."""
        done = subprocess.run(
            [sys.executable, "-m", f"ganeti_tx.devcluster.{module}", "--root", str(self.root), *words],
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, rf"^[\w-]+: {self.root} is not safe: it belongs to user {OTHER_USER}, [^\n]*\n$")
        self.assertIn("give another --root", done.stderr)
        self.assertTrue((self.root / "node1/srv/ganeti/os/evil/create").exists())
        self.assertFalse(self.trace.exists())

    def test_commands(self) -> None:
        """No command of ganeti-devcluster has anything to do with it."""
        for words in (
            ["up"],
            ["up", "--nodes", "1"],
            ["status"],
            ["shell"],
            ["run", "true"],
            ["down"],
            ["down", "--keep"],
        ):
            self.refused("main", *words)

    def test_quickstart(self) -> None:
        """Nor has quickstart."""
        self.refused("quickstart")
        self.refused("quickstart", "--stop")

    def test_remote_shell(self) -> None:
        """Nor has what stands for ssh between the nodes."""
        done = subprocess.run(
            [sys.executable, "-m", "ganeti_tx.devcluster.remote_shell", "node1", "true"],
            env={**os.environ, "PYTHONPATH": str(SOURCE), "GANETI_ROOTDIR": str(self.root / "node1")},
            capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 255)
        self.assertIn(f"it belongs to user {OTHER_USER}", done.stderr)
