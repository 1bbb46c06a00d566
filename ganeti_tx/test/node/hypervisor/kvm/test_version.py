"""What a node tells of its QEMU."""

from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.hypervisors.kvm import KvmParams
from ganeti_tx.node.hypervisor.kvm.version import LIMIT, QemuVersion
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.inprocess.disk import put

TOLD = ProcessResult(status=0, stdout=b"QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7)\n")


class VersionTests(SynchronousTestCase):
    """A scripted QEMU."""

    def setUp(self) -> None:
        self.runner = FakeProcessRunner()
        self.files = MemoryFiles()
        self.version = QemuVersion(self.files, self.runner)

    def told(self) -> "Deferred[str]":
        """Ask it."""
        return Deferred.fromCoroutine(self.version.told())

    def test_once(self) -> None:
        """It is asked once."""
        self.runner.script([], TOLD)
        self.assertEqual([self.successResultOf(self.told()) for _ in range(2)], ["7.2.22"] * 2)
        self.assertEqual(len(self.runner.calls), 1)

    def test_no_qemu(self) -> None:
        """A program of an instance that is none is told with what it does; one that is not there is not asked."""
        put(self.files, Path("/bin/true"), b"1")
        params = KvmParams(kvm_path="/bin/true")
        for result, why in (
            (ProcessResult(stdout=b"true (GNU coreutils) version 9.1\n"), "prints no version"),
            (ProcessResult(status=1, stderr=b"no such option\n"), "exited with status 1: no such option"),
        ):
            self.runner.script(["/bin/true"], result)
            wrong = f"kvm_path: /bin/true is no QEMU that runs on this node: /bin/true --version {why}"
            self.assertEqual(self.faults(params), [wrong])
        self.runner.script(["/bin/true"], TOLD)
        self.assertEqual(self.faults(params) + self.faults(params), [])
        self.assertEqual(self.faults(KvmParams(kvm_path="/no/qemu")), [])
        self.assertEqual(len(self.runner.calls), 3)

    def faults(self, params: KvmParams) -> list[str]:
        """What is wrong with an instance's program."""
        return self.successResultOf(Deferred.fromCoroutine(self.version.faults(params)))

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
