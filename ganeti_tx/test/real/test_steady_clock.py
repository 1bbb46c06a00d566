"""Which daemons go on when the time of the day is set back."""

import os
import subprocess
import sys
import tempfile

from twisted.trial.unittest import SynchronousTestCase

PROGRAM = """
import time
from twisted.internet import reactor
from ganeti_tx.{part} import tap
tap.makeService(tap.Options())
assert not reactor.getDelayedCalls()
assert reactor.seconds is time.monotonic
"""


class SteadyDaemonTests(SynchronousTestCase):
    """Daemons that are put together, each in a process of its own, but not run."""

    def test_daemons(self) -> None:
        """Those that only answer and look measure time by the monotonic clock."""
        with tempfile.TemporaryDirectory(prefix="gtx") as root:
            for part in ("confd", "mond"):
                environ = {**os.environ, "GANETI_ROOTDIR": root, "GANETI_HOSTNAME": "node1"}
                ended = subprocess.run(
                    [sys.executable, "-c", PROGRAM.format(part=part)], env=environ, capture_output=True, timeout=60
                )
                self.assertEqual((ended.returncode, ended.stderr), (0, b""), part)
