"""What a reset is, on a machine of its own and on a part of one. No test comes near this machine's own."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.runtime.machine_reset import OF_THE_MACHINE, KernelReset, RootReset, reset_of
from ganeti_tx.runtime.root_processes import processes_of

SLEEP = ("sleep", "600")
RESETS = """\
import sys
from pathlib import Path
from ganeti_tx.runtime.machine_reset import RootReset
RootReset(Path(sys.argv[1])).reset()
"""


class KernelResetTests(SynchronousTestCase):
    """With files in the places of the kernel's."""

    def setUp(self) -> None:
        directory = Path(mkdtemp())
        self.trigger, self.namespace = directory / "trigger", directory / "pid"
        self.trigger.touch()
        self.namespace.symlink_to(OF_THE_MACHINE)
        self.reset = KernelReset(self.trigger, self.namespace)

    def test_reset(self) -> None:
        """One letter."""
        self.assertEqual(self.reset.obstacle(), "")
        self.reset.reset()
        self.assertEqual(self.trigger.read_bytes(), b"b")

    def test_container(self) -> None:
        """A container's host is left alone."""
        self.namespace.unlink()
        self.namespace.symlink_to("pid:[4026532000]")
        self.assertIn("container", self.reset.obstacle())
        self.namespace.unlink()
        self.assertIn("No such file", self.reset.obstacle())

    def test_real_container(self) -> None:
        """In a container that there is, of which nothing but the process ids is its own; it is only asked."""
        ask = "from ganeti_tx.runtime.machine_reset import KernelReset; print(KernelReset().obstacle())"
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
        argv = ["unshare", "--pid", "--fork", "--mount-proc", sys.executable, "-c", ask]
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode != 0 and "unshare" in done.stderr:
            raise SkipTest(f"no process ids of one's own here: {done.stderr.strip()}")
        self.assertEqual((done.stdout, done.stderr), ("it is a container, and its host would be reset\n", ""))

    def test_no_trigger(self) -> None:
        """A kernel without it."""
        self.trigger.unlink()
        self.assertIn("cannot be written", self.reset.obstacle())


class RootResetTests(SynchronousTestCase):
    """With real processes."""

    def setUp(self) -> None:
        self.root = Path(mkdtemp()) / "node1"
        self.root.mkdir()

    def begin(self, root: Path | None, *argv: str) -> "subprocess.Popen[bytes]":
        """A process of a node."""
        environment = {**os.environ, **({} if root is None else {"GANETI_ROOTDIR": str(root)})}
        process = subprocess.Popen(argv, env=environment, start_new_session=True, cwd="/")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_reset(self) -> None:
        """All of the node's processes end, who does it last; those of another node, or of none, do not."""
        own = [self.begin(self.root, *SLEEP) for _ in range(3)]
        others = [self.begin(root, *SLEEP) for root in (None, self.root.parent / "node10", self.root.parent)]
        self.assertEqual(set(processes_of(self.root)), {process.pid for process in own})
        inside = Path(__file__).parents[3]
        environment = {**os.environ, "GANETI_ROOTDIR": str(self.root), "PYTHONPATH": str(inside)}
        done = subprocess.run([sys.executable, "-c", RESETS, str(self.root)], env=environment, check=False, timeout=60)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.assertEqual([process.wait(10) for process in own], [-signal.SIGKILL] * 3)
        self.assertEqual([process.poll() for process in others], [None] * 3)

    def test_which(self) -> None:
        """Only who has the whole machine resets it, under whatever name its root goes."""
        self.assertIsInstance(reset_of(Path("/")), KernelReset)
        link = self.root / "link"
        link.symlink_to("/")
        self.assertIsInstance(reset_of(link), KernelReset)
        self.assertEqual(reset_of(self.root), RootReset(self.root))
