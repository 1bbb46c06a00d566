"""A real node daemon of a candidate that is stopped by a signal: it accepts calls and never answers them."""

import os
import signal
import time
from pathlib import Path

from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.runtime.daemon_names import NODE
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed

#: Seconds within which commands end that wait for the candidate only for a few; its calls are given up after 60.
LIMIT = 40.0
#: Seconds for what daemons do by themselves.
SOON = 60.0


class HungCandidateTests(TestCase):
    """A devcluster of three candidates, of which one is stopped."""

    timeout = 600

    def setUp(self) -> None:
        if not commands_are_installed():
            raise SkipTest("the commands are not installed beside this Python (pip install -e .)")
        self.cluster = DevClusterUnderTest(("--enabled-hypervisors=fake",))
        self.addCleanup(self.cluster.close)
        self.paths = [Paths(Path(node.root)) for node in self.cluster.layout.nodes]

    def copies(self, number: int) -> dict[str, bytes]:
        """A node's configuration, live jobs and last id."""
        paths = self.paths[number - 1]
        files = [paths.config_file, paths.queue_serial_file, *paths.queue_dir.glob("job-*")]
        return {path.name: path.read_bytes() for path in files}

    def test_hung(self) -> None:
        """Jobs are submitted and end meanwhile; when the daemon goes on, it gets what it missed."""
        self.cluster.ok("gnt-cluster add-tags before")
        process = int(self.paths[2].pid_file(NODE).read_text())
        os.kill(process, signal.SIGSTOP)
        try:
            for line in ("add-tags --submit one", "add-tags two", "modify --max-running-jobs 7", "add-tags three"):
                status, out, err = self.cluster.run(["gnt-cluster", *line.split()], timeout=LIMIT)
                self.assertEqual(status, 0, out + err)
            self.assertNotEqual(self.copies(3), self.copies(1))
            self.assertEqual(set(self.cluster.ok("gnt-job list --no-headers -o status").split()), {"success"})
        finally:
            os.kill(process, signal.SIGCONT)
        limit = time.monotonic() + SOON
        while self.copies(3) != self.copies(1):
            self.assertLess(time.monotonic(), limit, "the copies are not the same")
            time.sleep(0.2)
        self.assertEqual(self.copies(2), self.copies(1))
