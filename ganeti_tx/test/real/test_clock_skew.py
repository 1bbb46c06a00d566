"""A node whose clock is wrong, in a real cluster: its daemon alone sees other times, not the machine."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.devcluster.layout import DevNode
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.pidfile import holder
from ganeti_tx.test.real.devcluster import DevClusterUnderTest, commands_are_installed

DAEMON = "ganeti-noded"
#: Read by Python before anything else (module `site`).
SHIM = """\
import time

_right = time.time
time.time = lambda: _right() + 1001.0
"""


class ClockSkewTests(SynchronousTestCase):
    """Two nodes."""

    skip = None if commands_are_installed() else "the commands are not installed beside this Python"

    def setUp(self) -> None:
        options = ["--enabled-hypervisors=fake", "--enabled-disk-templates=diskless,file"]
        self.cluster = DevClusterUnderTest(options, nodes=2)
        self.addCleanup(self.cluster.close)
        self.node = self.cluster.layout.nodes[1]
        self.shim = self.cluster.directory / "shim"
        self.shim.mkdir()
        (self.shim / "sitecustomize.py").write_text(SHIM)

    def restart(self, node: DevNode, more: Mapping[str, str]) -> None:
        """End the node's daemon, and start it in another environment."""
        path = Paths(node.root).pid_file(DAEMON)
        process = holder(path)
        assert process is not None
        os.kill(process, signal.SIGTERM)
        while holder(path) == process:
            time.sleep(0.02)
        if holder(path) is None:
            environment = {**node.environment(os.environ), **more}
            program = Path(sys.executable).parent / DAEMON
            subprocess.run([str(program)], env=environment, stdin=subprocess.DEVNULL, timeout=60, check=True)

    def found(self) -> list[str]:
        """What verification says of clocks."""
        _, out, _ = self.cluster.run(["gnt-cluster", "verify", "--error-codes"])
        return [line for line in out.splitlines() if "ENODETIME" in line]

    def test_found(self) -> None:
        """It is told by how much the clock is wrong, and nothing when it is right again."""
        self.assertEqual(self.found(), [])
        self.restart(self.node, {"PYTHONPATH": str(self.shim)})
        (line,) = self.found()
        self.assertRegex(line, rf"ERROR:ENODETIME:node:{self.node.name}:Node time diverges by at least \d+\.\ds")
        self.restart(self.node, {})
        self.assertEqual(self.found(), [])
