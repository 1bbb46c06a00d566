"""What a node remembers of its instances, whom it lends user ids, and what it clears away."""

from pathlib import Path

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.internet.testing import MemoryReactorClock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm import state as states
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
from ganeti_tx.runtime.file_lock import HeldFile
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, PATHS, qemu_plan


class StateTests(SynchronousTestCase):
    """One instance in memory."""

    def setUp(self) -> None:
        self.files, self.layout = MemoryFiles(), instance_layout(PATHS, NAME)
        self.files.mkdir(PATHS.kvm_conf_dir)
        self.files.mkdir(PATHS.data_dir)
        self.pool = UidPool(PATHS, self.files, SeededEntropy(), frozenset, self.lock)
        self.locked: list[Path] = []

    def lock(self, path: Path, _mode: int) -> HeldFile:
        """A lock on a file of this memory."""
        self.locked.append(path)
        return HeldFile(path, -1)

    def test_round_trip(self) -> None:
        """A saved state is loaded as it was, readable by root only, and its instance is listed."""
        state = planned_state(qemu_plan(security_model="pool", run_as="61234:61234"))
        self.successResultOf(Deferred.fromCoroutine(states.save(self.files, self.layout, state)))
        self.assertEqual(states.load(self.files, self.layout), state)
        self.assertEqual((state.uid, self.files.stat(self.layout.runtime).mode), (61234, 0o600))
        self.assertEqual(states.saved_names(self.files, PATHS), [NAME])

    def test_older(self) -> None:
        """A state that an older version wrote, before devices came and went, can be read."""
        older = msgspec.json.encode(planned_state(qemu_plan()))
        kept = {name: value for name, value in msgspec.json.decode(older).items() if name not in ("params", "places")}
        self.successResultOf(
            Deferred.fromCoroutine(self.files.write_atomic(self.layout.runtime, msgspec.json.encode(kept)))
        )
        state = states.load(self.files, self.layout)
        assert state is not None
        self.assertEqual((state.params, state.places, state.name), (None, {}, NAME))

    def test_corrupt(self) -> None:
        """A state that cannot be read is an error that names its file; none at all is None."""
        self.assertIsNone(states.load(self.files, self.layout))
        for damaged in (b"{}", b"[", b'{"name":"\xff"}', b"[" * 50_000):
            self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(self.layout.runtime, damaged)))
            error = self.assertRaises(HypervisorError, states.load, self.files, self.layout)
            self.assertIn(str(self.layout.runtime), str(error))

    def test_long_name(self) -> None:
        """A name too long for the kernel's sockets is refused."""
        self.assertIn("socket path", str(self.assertRaises(HypervisorError, instance_layout, PATHS, "x" * 100)))

    def test_clear(self) -> None:
        """Files, tap and user id of an instance go; clearing again finds nothing."""
        runner = FakeProcessRunner()
        runner.script(["ip"], ProcessResult())
        scopes = Scopes(self.files.exists)
        tpm = SoftwareTpm(
            self.files,
            runner,
            LinuxQemuProcesses(MemoryReactorClock()),
            Clock(),
            scopes,
            LinuxHostDevices(),
            lambda states, argument: [],
        )
        remains = Remains(self.files, Network(PATHS, self.files, runner), self.pool, tpm, ControlGroup(scopes))
        state = planned_state(qemu_plan(security_model="pool", run_as="61234:61234"))
        before = set(self.files.contents())
        uid_file = PATHS.uid_pool_dir / "61234"
        layout = self.layout
        for path in (layout.pid, *layout.sockets, layout.runtime, layout.nic_dir / "0", uid_file):
            self.files.mkdir(path.parent)
            self.successResultOf(Deferred.fromCoroutine(self.files.write_atomic(path, b"x")))
        self.files.mkdir(layout.chroot)
        for _ in range(2):
            self.successResultOf(Deferred.fromCoroutine(remains.clear(layout, state)))
            self.assertEqual(set(self.files.contents()), before)
            self.assertFalse(self.files.exists(layout.chroot) or self.files.exists(layout.nic_dir))
        self.assertIn(["ip", "link", "delete", "dev", "tap0"], runner.commands)
