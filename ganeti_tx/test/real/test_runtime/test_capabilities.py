"""A process that gives up being root, and keeps one right."""

import os
import subprocess
import sys

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.programs import SOURCE

CHILD = """
import os, socket
from ganeti_tx.runtime.capabilities import NET_BIND_SERVICE, keeping
with keeping({kept}):
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
for attempt in (lambda: socket.socket().bind(("127.0.0.1", 997)), lambda: os.setuid(0)):
    try:
        attempt()
        print("done")
    except PermissionError:
        print("refused")
"""


class CapabilityTests(SynchronousTestCase):
    """In a child process."""

    if os.geteuid() != 0:
        skip = "only root can give up being root"

    def said(self, kept: str) -> list[str]:
        """What became of a port below 1024, and of being root again."""
        argv = [sys.executable, "-c", CHILD.format(kept=kept)]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_kept(self) -> None:
        """Ports are had; nothing else is."""
        self.assertEqual(self.said("NET_BIND_SERVICE"), ["done", "refused"])

    def test_none(self) -> None:
        """Without it, nothing is kept."""
        self.assertEqual(self.said("None"), ["refused", "refused"])
