"""Whether KVM works: by a guest that ran, once for each boot of the node."""

from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.hypervisor.kvm.acceleration import (
    KVM_DEVICE,
    PROBE_STATUS,
    PROBE_TIMEOUT,
    Acceleration,
    AccelerationProbe,
)
from ganeti_tx.runtime.boot_id import BOOT_ID
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.node.hypervisor.kvm.parts import PATHS

QEMU = "/usr/bin/kvm"


class AccelerationTests(SynchronousTestCase):
    """Scripted QEMUs."""

    def setUp(self) -> None:
        self.files, self.runner = MemoryFiles(), FakeProcessRunner()
        self.write(KVM_DEVICE, b"")
        self.write(BOOT_ID, b"boot-1\n")
        self.runner.script([QEMU], ProcessResult(status=PROBE_STATUS))
        self.runner.script(["/bin/true"], ProcessResult())

    def write(self, path: Path, data: bytes) -> None:
        """Put a file there."""
        self.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, data)))

    def test_other_program(self) -> None:
        """What another program cannot do changes nothing for this one, also after a restart of the daemon."""
        self.successResultOf(self.choose())
        for program in ("/bin/true", "/bin/true", QEMU):
            found = self.successResultOf(self.choose(program=program))
            self.assertEqual(found, Acceleration.KVM if program == QEMU else Acceleration.TCG)
        self.assertEqual(len(self.runner.calls), 2)

    def choose(self, flag: str = "", program: str = QEMU) -> "Deferred[Acceleration]":
        """Ask a daemon that was just started."""
        return Deferred.fromCoroutine(AccelerationProbe(PATHS, self.files, self.runner).choose(program, flag))

    def test_works(self) -> None:
        """A guest that ran proves KVM; it is run once, also for a restarted daemon."""
        for _ in range(2):
            self.assertEqual(self.successResultOf(self.choose()), Acceleration.KVM)
        self.assertEqual(len(self.runner.calls), 1)

    def test_next_boot(self) -> None:
        """After the next boot of the node it is found out again."""
        self.successResultOf(self.choose())
        self.write(BOOT_ID, b"boot-2\n")
        self.runner.script([QEMU], ProcessResult(status=1))
        self.assertEqual(self.successResultOf(self.choose()), Acceleration.TCG)
        self.assertEqual(len(self.runner.calls), 2)

    def test_hangs(self) -> None:
        """A guest that hangs is given up in time, and means TCG."""
        self.runner.script([QEMU], lambda _call: Deferred())
        chosen = self.choose()
        self.assertNoResult(chosen)
        self.runner.clock.advance(PROBE_TIMEOUT)
        self.assertEqual(self.successResultOf(chosen), Acceleration.TCG)

    def test_no_success_without_guest(self) -> None:
        """A QEMU that ends well without its guest having run proves nothing."""
        for status in (0, 1, 127):
            self.setUp()
            self.runner.script([QEMU], ProcessResult(status=status))
            self.assertEqual(self.successResultOf(self.choose()), Acceleration.TCG)

    def test_flag(self) -> None:
        """The parameter decides before the probe, and without the device nothing is tried."""
        self.assertEqual(self.successResultOf(self.choose("enabled")), Acceleration.KVM)
        self.assertEqual(self.successResultOf(self.choose("disabled")), Acceleration.TCG)
        self.files.remove(KVM_DEVICE)
        self.assertEqual(self.successResultOf(self.choose()), Acceleration.TCG)
        self.assertEqual(self.runner.calls, [])

    def test_corrupt(self) -> None:
        """A remembered answer that cannot be read is found out again."""
        self.write(PATHS.kvm_dir / "acceleration", b"{")
        self.assertEqual(self.successResultOf(self.choose()), Acceleration.KVM)
