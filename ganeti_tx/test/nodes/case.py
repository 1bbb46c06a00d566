"""Tests on real nodes: three with systemd, with this checkout installed; skipped where there can be none."""

from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import ClassVar

from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.test.nodes.layers import cache_directory, ganeti
from ganeti_tx.test.nodes.machine import missing
from ganeti_tx.test.nodes.nodes import Nodes


class NodesCase(TestCase):
    """`self.nodes` is up while a test runs."""

    #: How many, and which Debian packages they have besides their own.
    count: ClassVar[int] = 3
    packages: ClassVar[str] = ""
    #: Whether a timer starts the watcher; it may start anything again, at any time.
    watched: ClassVar[bool] = False
    nodes: Nodes

    def setUp(self) -> None:
        """Bring them up."""
        reason = missing(cache_directory())
        if reason is not None:
            raise SkipTest(reason)
        state = Path(mkdtemp(prefix="ganeti-nodes-", dir="/tmp"))
        self.addCleanup(rmtree, state, ignore_errors=True)
        self.nodes = Nodes(state)
        self.addCleanup(self.nodes.down)
        self.nodes.up(ganeti(self.packages), self.count)
        if not self.watched:
            for node in self.nodes.numbers:
                self.run_on(node, "systemctl disable --quiet --now ganeti-watcher.timer")

    def run_on(self, node: int, command: str, status: int | None = 0) -> str:
        """What a shell command says on a node, which must end with that status."""
        return self.nodes.run(node, command, status=status)
