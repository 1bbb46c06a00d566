"""The guest that decides on KVM, run by a real QEMU."""

from pathlib import Path
from shutil import which

from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.node.hypervisor.kvm.acceleration import PROBE_GUEST, Acceleration, AccelerationProbe
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.real.guest import QEMU


class ProbeGuestTests(TestCase):
    """The guest runs where machines can run."""

    def test_runs(self) -> Deferred[None]:
        """Under QEMU's own processor the probe guest gets to 64-bit mode and ends QEMU with its status."""
        return Deferred.fromCoroutine(self.probe())

    async def probe(self) -> None:
        """Run it."""
        program = which(QEMU)
        if program is None:
            raise SkipTest(f"{QEMU} is not installed")
        root = Path(self.mktemp()).absolute()
        probe = AccelerationProbe(
            Paths(root),
            RealFiles(reactor_threads(reactor)),  # type: ignore[arg-type]
            ReactorProcessRunner(reactor, reactor),
        )
        self.assertTrue(await probe.works(program, Acceleration.TCG))

    def test_is_a_boot_sector(self) -> None:
        """It is one sector, uses the 64-bit instruction that emulating KVMs lack, and has the mark of boot sectors."""
        self.assertEqual(len(PROBE_GUEST), 512)
        self.assertIn(b"\xf0\x48\x0f\xc7", PROBE_GUEST)
        self.assertTrue(PROBE_GUEST.endswith(b"\x55\xaa"))
