"""What firmware and TPM keep outlasts a power cut once a node has said that it has it, and is gone when it is forgotten."""

from pathlib import Path

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.kvm.firmware import MAX_FILES, Firmware, FirmwareStore
from ganeti_tx.node.hypervisor.kvm.tpm_user import TpmUser
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.node.hypervisor.kvm.parts import qemu_plan

UUID = "0a1b2c3d"
OLD, NEW = {"variables.fd": b"old"}, {"variables.fd": b"new", "tpm/tpm2-00.permall": b"keys"}
CHANGES = ("make_sure", "remove_tree", "rename")


class FirmwareTests(SynchronousTestCase):
    """On a node that has had the instance before."""

    def setUp(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.files = MemoryFiles()
        self.paths = Paths(Path("/node"))
        self.firmware = Firmware(self.paths, self.files)
        self.keep(OLD)
        self.files.fault = self.note

    def note(self, operation: str, path: Path) -> None:
        """Remember what is done to directories."""
        if operation in CHANGES:
            self.done.append((operation, path.name))

    def keep(self, kept: dict[str, bytes]) -> None:
        """Have it."""
        self.successResultOf(Deferred.fromCoroutine(self.firmware.keep(UUID, kept)))

    def forget(self) -> None:
        """Have it no more."""
        self.successResultOf(Deferred.fromCoroutine(self.firmware.forget(UUID)))

    def test_order(self) -> None:
        """The new is sure before the old goes, and its place before the node says that it has it."""
        self.keep(NEW)
        new, root = f"{UUID}.new", self.paths.kvm_firmware_dir
        self.assertEqual(
            self.done,
            [
                *[("make_sure", name) for name in (new, root.name, root.parent.name)],
                ("remove_tree", UUID),
                ("rename", new),
                ("make_sure", root.name),
            ],
        )
        self.assertEqual(self.firmware.kept(UUID), NEW)

    def test_cut_off(self) -> None:
        """What did not get to its place is no hindrance to the next, and goes with the instance."""
        for again in (True, False):
            self.files.fault = lambda operation, path: OSError("power is lost") if operation == "rename" else None
            self.failureResultOf(Deferred.fromCoroutine(self.firmware.keep(UUID, NEW)), OSError)
            self.assertEqual(self.firmware.owners(), [UUID])
            self.files.fault = None
            if again:
                self.keep(NEW)
                self.assertEqual(self.firmware.kept(UUID), NEW)
        self.forget()
        self.assertEqual(self.files.listdir(self.paths.kvm_firmware_dir), [])
        self.assertEqual(self.firmware.owners(), [])

    def test_forgotten(self) -> None:
        """It does not come back after a power cut; where there is nothing nothing is done."""
        self.forget()
        self.assertEqual(self.done, [("remove_tree", UUID), ("make_sure", self.paths.kvm_firmware_dir.name)])
        self.done.clear()
        self.forget()
        self.assertEqual(self.done, [])

    def test_given(self) -> None:
        """A TPM's state becomes its user's, once; what is no state of one is not given, and no former user's file is."""
        plan = qemu_plan(tpm=True)
        uuid, first, second = plan.spec.uuid, TpmUser("61001", 61001, 61001), TpmUser("", 0, 0)
        store = FirmwareStore(self.paths, uuid)
        self.successResultOf(Deferred.fromCoroutine(self.firmware.keep(uuid, NEW)))
        for user in (first, second):
            put(self.files, store.tpm / ".lock", b"")
            for _ in range(2):
                self.done.clear()
                self.successResultOf(Deferred.fromCoroutine(self.firmware.prepare(plan, user)))
            self.assertEqual(self.done, [])
            self.assertEqual(self.files.listdir(store.tpm), ["tpm2-00.permall"])
            for path in (store.tpm, store.tpm / "tpm2-00.permall"):
                self.assertEqual(self.files.owner(path), (user.uid, user.gid))
            self.assertEqual(self.firmware.kept(uuid), NEW)

    def test_idle(self) -> None:
        """What a machine that runs uses is left out."""
        self.keep(NEW)
        without = qemu_plan().params
        for uefi, tpm, names in (
            (True, False, ["tpm/tpm2-00.permall"]),
            (False, True, ["variables.fd"]),
            (True, True, []),
        ):
            self.assertEqual(list(self.firmware.kept(UUID, replace(without, uefi=uefi, tpm=tpm))), names)

    def test_names(self) -> None:
        """They are told while the machine runs, too, as nothing is read."""
        self.keep(NEW)
        self.files.fault = lambda operation, path: OSError("it is read") if operation == "read" else None
        self.assertEqual(self.firmware.names(UUID), sorted(NEW))

    def test_too_many(self) -> None:
        """Many files are refused before one is read."""
        for number in range(MAX_FILES + 1):
            put(self.files, FirmwareStore(self.paths, UUID).tpm / str(number), b"")
        self.files.fault = lambda operation, path: OSError("it is read") if operation == "read" else None
        with self.assertRaises(HypervisorError) as caught:
            self.firmware.kept(UUID)
        self.assertIn(f"at most {MAX_FILES} are kept", str(caught.exception))
