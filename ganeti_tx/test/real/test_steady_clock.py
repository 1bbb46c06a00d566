"""Which daemons go on when the time of the day is set back."""

import os
import subprocess
import sys
import tempfile

from twisted.trial.unittest import SynchronousTestCase

#: Seconds for a process that does what it is to do.
LIMIT = 5

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
        """All measure time by the monotonic clock."""
        with tempfile.TemporaryDirectory(prefix="gtx") as root:
            for part in ("node", "confd", "mond", "master", "luxid", "wconfd", "rapi"):
                environ = {**os.environ, "GANETI_ROOTDIR": root, "GANETI_HOSTNAME": "node1"}
                ended = subprocess.run(
                    [sys.executable, "-c", PROGRAM.format(part=part)], env=environ, capture_output=True, timeout=60
                )
                self.assertEqual((ended.returncode, ended.stderr), (0, b""), part)


#: A program that a job process, or a command that needs a reactor, is started by. Its time of the day is set back by an hour as
#: soon as something is to be done in a moment: only its own, which Python and Twisted ask for.
SET_BACK = """
import sys, time
real, error = time.time, [0.0]
time.time = lambda: real() + error[0]
from twisted.internet import reactor
from ganeti_tx.runtime.steady_clock import steady
{steady}
def later():
    print("done", flush=True)
    reactor.stop()
reactor.callWhenRunning(lambda: (reactor.callLater(0.2, later), error.__setitem__(0, -3600.0)))
reactor.run()
"""


class SetBackTests(SynchronousTestCase):
    """A process whose time of the day is set back by an hour while something is to be done in a moment."""

    def ended(self, steady: str) -> bytes:
        """What it has done within a few seconds."""
        program = SET_BACK.format(steady=steady)
        try:
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=LIMIT, check=True)
        except subprocess.TimeoutExpired:
            return b""
        return done.stdout

    def test_steady(self) -> None:
        """A steady reactor does it; Twisted's own would wait for an hour, which shows that the test would tell."""
        self.assertEqual(self.ended("steady(reactor)"), b"done\n")
        self.assertEqual(self.ended(""), b"")
