"""What a command that sees an image gets of its environment."""

import subprocess
import sys
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.storage.file import with_view

RUN = "import sys; sys.path.insert(0, {directory!r}); import with_view; sys.exit(with_view.run(['/usr/bin/env'], None))"


class EnvironmentTests(SynchronousTestCase):
    """The program that is between runs apart, as it does on a node."""

    def printed(self, **environment: str) -> list[str]:
        """What the command finds."""
        program = RUN.format(directory=str(Path(with_view.__file__).parent))
        argv = [sys.executable, "-I", "-S", "-c", program]
        return subprocess.run(argv, env=environment, capture_output=True, check=True, text=True).stdout.splitlines()

    def test_unchanged(self) -> None:
        """Nothing comes to it, and nothing goes."""
        for given in ({"A": "x=y"}, {"LC_CTYPE": "C"}, {"LC_ALL": "C", "EMPTY": ""}):
            self.assertEqual(self.printed(**given), [f"{name}={value}" for name, value in given.items()])
