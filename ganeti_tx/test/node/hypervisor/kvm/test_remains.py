"""Nothing is removed where others than root say what is there."""

import os
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.control_group import ControlGroup
from ganeti_tx.node.hypervisor.kvm.host_devices import LinuxHostDevices
from ganeti_tx.node.hypervisor.kvm.layout import instance_layout
from ganeti_tx.node.hypervisor.kvm.network import Network
from ganeti_tx.node.hypervisor.kvm.planned_state import planned_state
from ganeti_tx.node.hypervisor.kvm.processes import LinuxQemuProcesses
from ganeti_tx.node.hypervisor.kvm.remains import Remains
from ganeti_tx.node.hypervisor.kvm.tpm import SoftwareTpm
from ganeti_tx.node.hypervisor.kvm.uid_pool import UidPool
from ganeti_tx.node.hypervisor.scopes import Scopes
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, qemu_plan

NOBODY = 65534


class RemainsTests(SynchronousTestCase):
    """On the disk."""

    def setUp(self) -> None:
        self.top = Path(mkdtemp())  # a short name: sockets lie below it
        self.addCleanup(rmtree, self.top)
        self.paths = Paths(self.top)
        files = RealFiles(InlineThreads())
        self.layout = instance_layout(self.paths, "web1")
        uids = UidPool(self.paths, files, SeededEntropy(), frozenset)
        self.runner, nobody = FakeProcessRunner(), LinuxQemuProcesses(MemoryReactorClock())
        runner = self.runner
        scopes = Scopes(files.exists)
        tpm = SoftwareTpm(files, runner, nobody, Clock(), scopes, LinuxHostDevices(), lambda states, argument: [])
        self.remains = Remains(files, Network(self.paths, files, runner), uids, tpm, ControlGroup(scopes))
        self.victim = self.top / "victim"
        self.victim.mkdir(parents=True)
        (self.victim / "file").touch()
        self.paths.kvm_nic_dir.mkdir(mode=0o750, parents=True)

    def clear(self) -> "Deferred[None]":
        """Clear away what web1 has left."""
        return Deferred.fromCoroutine(self.remains.clear(self.layout, None))

    def test_cleared(self) -> None:
        """What is ours is removed."""
        self.layout.nic_dir.mkdir()
        (self.layout.nic_dir / "0").touch()
        self.successResultOf(self.clear())
        self.assertEqual(list(self.paths.kvm_nic_dir.iterdir()), [])

    def test_taps(self) -> None:
        """When nothing else is remembered of an instance, its taps go by the files that name them."""
        self.layout.nic_dir.mkdir()
        others = (b"", b"\0\xff", b"--all", b"x" * 5000, b"eth0", b"br0", b"tap12ab\n", b"tap12ab eth0")
        for number, text in enumerate((b"tap12ab", b"gnt.com.34", *others)):
            (self.layout.nic_dir / str(number)).write_bytes(text)
        self.runner.script(["ip"], ProcessResult())
        self.successResultOf(self.clear())
        deleted = [argv[-1] for argv in self.runner.commands if "delete" in argv]
        self.assertEqual(deleted, ["tap12ab", "gnt.com.34"])
        self.assertEqual(list(self.paths.kvm_nic_dir.iterdir()), [])

    def test_display(self) -> None:
        """The socket for VNC goes, wherever it is; what the administrator has put in its place stays, and is in nobody's way."""
        directory = self.top / "vnc"
        (directory / f"{NAME}.vnc").mkdir(parents=True)
        state = planned_state(qemu_plan(nics=[], vnc_bind_address=str(directory)))
        self.successResultOf(Deferred.fromCoroutine(self.remains.clear(self.layout, state)))
        (directory / f"{NAME}.vnc").rmdir()
        (directory / f"{NAME}.vnc").touch()
        (directory / "other.vnc").touch()
        self.successResultOf(Deferred.fromCoroutine(self.remains.clear(self.layout, state)))
        self.assertEqual([each.name for each in directory.iterdir()], ["other.vnc"])

    def test_others_may_write(self) -> None:
        """Where others could have put a link nothing is removed, and the directory is named."""
        self.layout.nic_dir.symlink_to(self.victim.absolute())
        self.paths.kvm_nic_dir.chmod(0o770)
        self.refused(self.paths.kvm_nic_dir)

    def test_log(self) -> None:
        """QEMU writes its log as root, so the logs' directory must be root's as well."""
        self.paths.log_kvm_dir.mkdir(parents=True)
        self.paths.log_kvm_dir.chmod(0o777)
        self.refused(self.paths.log_kvm_dir)

    def test_of_another(self) -> None:
        """The same where the directory is another user's."""
        if os.geteuid() != 0:
            raise SkipTest("only root can give a directory to somebody else")
        self.layout.nic_dir.symlink_to(self.victim.absolute())
        os.chown(self.paths.kvm_dir, NOBODY, NOBODY)
        self.refused(self.paths.kvm_dir)

    def refused(self, path: Path) -> None:
        """Nothing is removed, because of a directory."""
        error = self.failureResultOf(self.clear(), HypervisorError).value
        self.assertIn(f"{path} is not used", str(error))
        self.assertTrue((self.victim / "file").exists())
