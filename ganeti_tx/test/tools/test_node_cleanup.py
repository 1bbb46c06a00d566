"""node-cleanup: what it removes, and what stays."""

import io
import os
import sys
from contextlib import redirect_stderr
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.runtime.paths import ROOT_VARIABLE, Paths
from ganeti_tx.tools import node_cleanup


class CleanupTests(SynchronousTestCase):
    """A node with some files of a cluster."""

    def setUp(self) -> None:
        root = Path(self.mktemp()).absolute()
        self.patch(os, "environ", {**os.environ, ROOT_VARIABLE: str(root)})
        self.paths = paths = Paths(root)
        self.single = [paths.server_pem, paths.hmac_key, paths.data_dir / "config.data", paths.rapi_dir / "tokens"]
        self.gone = [paths.ssconf_file("cluster_name"), paths.job_file(7), paths.instance_status_file]
        self.stays = [paths.data_dir / "unrelated", root / "srv/ganeti/file-storage/disk0"]
        for path in (*self.single, *self.gone, *self.stays):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(path.name)
        paths.root_ssh_dir.mkdir(parents=True)
        paths.root_authorized_keys.write_text("ssh-rsa A root@node1 (ganeti_tx)\nssh-rsa B me\n")

    def run_it(self, *words: str) -> tuple[int, str]:
        """Its status and what it says."""
        self.patch(sys, "argv", ["node-cleanup", *words])
        err = io.StringIO()
        with redirect_stderr(err):
            return int(node_cleanup.main()), err.getvalue()

    def left(self) -> list[Path]:
        """What is still there of what was there."""
        return [path for path in (*self.single, *self.gone, *self.stays) if path.exists()]

    def test_asked(self) -> None:
        """Nothing is done without the option that says so."""
        status, told = self.run_it()
        self.assertEqual((status, self.left()), (1, [*self.single, *self.gone, *self.stays]))
        self.assertIn("supply the --yes-do-it option", told)

    def test_cleaned(self) -> None:
        """The cluster's files go, and its lines among the keys; nobody but root reads the copies of single files."""
        self.assertEqual(self.run_it("--yes-do-it"), (0, ""))
        self.assertEqual(self.left(), self.stays)
        self.assertEqual(self.paths.root_authorized_keys.read_text(), "ssh-rsa B me\n")
        copies = sorted(self.paths.data_dir.glob("*.backup-*"))
        self.assertEqual([path.read_text() for path in copies], ["config.data", "hmac.key", "server.pem", "tokens"])
        self.assertEqual({path.stat().st_mode & 0o777 for path in copies}, {0o600})
        self.assertEqual(sorted(self.paths.root.rglob("*.backup-*")), copies)

    def test_no_copies(self) -> None:
        """Those of an earlier time go, too; each file is told where that is wanted."""
        (self.paths.data_dir / "config.data.backup-old").touch()
        status, told = self.run_it("--ya-rly", "--no-backup", "-v")
        self.assertEqual((status, self.left(), list(self.paths.data_dir.glob("*.backup-*"))), (0, self.stays, []))
        self.assertIn(f"Removed {self.paths.server_pem}\n", told)
        self.assertTrue(told.endswith("Node successfully cleaned\n"))

    def test_daemon_stays(self) -> None:
        """While a daemon does not end nothing is removed."""
        self.patch(node_cleanup, "stop_all", lambda paths: ["ganeti-noded does not end"])
        self.assertEqual(self.run_it("--yes-do-it"), (1, "node-cleanup: ganeti-noded does not end\n"))
        self.assertEqual(self.left(), [*self.single, *self.gone, *self.stays])
