"""When a node has its metadata daemon there."""

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.node.metadata.telling import Metadata
from ganeti_tx.node.os.catalogue import OsCatalogue
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.metadata_daemon import FakeMetadataDaemon
from ganeti_tx.test.node.hypervisor.kvm.parts import PATHS


class ResumeTests(SynchronousTestCase):
    """A node daemon that was started."""

    def setUp(self) -> None:
        self.files, self.daemon = MemoryFiles(), FakeMetadataDaemon()
        catalogue = OsCatalogue(self.files, ())
        self.metadata = Metadata(self.files, PATHS, {}, catalogue, self.daemon)

    def resume(self, *kept: str) -> bool:
        """Whether the daemon is there then."""
        self.files.mkdir(PATHS.metadata_dir)
        for name in kept:
            self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(PATHS.metadata_dir / name, b"{}")))
        self.successResultOf(Deferred.fromCoroutine(self.metadata.resume()))
        return self.daemon.up

    def test_nobody(self) -> None:
        """Without instances that ask it there is none, as on a node that has never had one."""
        self.successResultOf(Deferred.fromCoroutine(self.metadata.resume()))
        self.assertFalse(self.resume())

    def test_instances(self) -> None:
        """With one it is started."""
        self.assertTrue(self.resume("web1.example.com"))

    def test_fault(self) -> None:
        """That it cannot be started holds nobody up."""
        self.daemon.fault = "port 80 is taken"
        self.assertFalse(self.resume("web1.example.com"))
