"""Tests of the commands as processes: what they load, and a run against a real socket."""

import os
import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase


class StartTests(SynchronousTestCase):
    """A command answers in a blink."""

    def test_imports(self) -> None:
        """A list loads neither Twisted nor msgspec nor the model, which cost more time than the list."""
        code = (
            "import sys; from ganeti_tx.cli.main import program_named; from ganeti_tx.cli.program import load;"
            "load(program_named('gnt-instance').commands['list']);"
            "heavy = {'twisted', 'msgspec', 'attr', 'asyncio', 'subprocess', 'ganeti_tx.model', 'zope'} & set(sys.modules);"
            "sys.exit(repr(heavy) if heavy else 0)"
        )
        path = os.pathsep.join(entry for entry in sys.path if entry)
        outcome = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, env={"PYTHONPATH": path}, timeout=60
        )
        self.assertEqual((outcome.returncode, outcome.stderr), (0, b""))
