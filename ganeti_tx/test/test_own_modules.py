"""Programs that are started by their modules."""

import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.own_modules import module_argv


class OwnModulesTests(SynchronousTestCase):
    """In a directory that somebody else has filled."""

    def test_strange_directory(self) -> None:
        """No module is taken from there, neither one of ours nor one of Python's."""
        there = Path(self.mktemp())
        there.mkdir()
        for name in ("ganeti_tx.py", "argparse.py", "json.py"):
            (there / name).write_text("raise SystemExit(77)\n")
        done = subprocess.run(
            module_argv("ganeti_tx.upgrade.cfgupgrade", "--help"),
            cwd=there,
            capture_output=True,
            timeout=60,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))
