"""What a node tells of its QEMU."""

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.kvm.version import LIMIT, QemuVersion
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner

TOLD = ProcessResult(status=0, stdout=b"QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)\n")


class VersionTests(SynchronousTestCase):
    """A scripted QEMU."""

    def setUp(self) -> None:
        self.runner = FakeProcessRunner()
        self.version = QemuVersion(MemoryFiles(), self.runner)

    def told(self) -> "Deferred[str]":
        """Ask it."""
        return Deferred.fromCoroutine(self.version.told())

    def test_once(self) -> None:
        """It is asked once."""
        self.runner.script([], TOLD)
        self.assertEqual([self.successResultOf(self.told()) for _ in range(2)], ["7.2.22"] * 2)
        self.assertEqual(len(self.runner.calls), 1)

    def test_slow(self) -> None:
        """A program that is slow after a boot is waited for; one that hangs is given up, and asked again."""
        waiting: Deferred[ProcessResult] = Deferred()
        self.runner.script([], lambda _call: waiting)
        told = self.told()
        self.runner.clock.advance(LIMIT - 1)
        self.assertNoResult(told)
        self.runner.clock.advance(1)
        self.assertEqual(self.successResultOf(told), "")
        self.runner.script([], TOLD)
        self.assertEqual(self.successResultOf(self.told()), "7.2.22")
