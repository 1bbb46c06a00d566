"""What a node has not is told before there is an instance that would need it."""

from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM, KvmParams
from ganeti_tx.node.hypervisor.kvm.acceleration import KVM_DEVICE, PROBE_STATUS, AccelerationProbe
from ganeti_tx.node.hypervisor.kvm.node_lacks import NodeLacks
from ganeti_tx.node.hypervisor.kvm.tpm_user import TpmUser
from ganeti_tx.node.hypervisor.kvm.uid_pool import NO_POOL, UidPool
from ganeti_tx.node.hypervisor.processors import ONLINE
from ganeti_tx.runtime.boot_id import BOOT_ID
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.fakes.entropy import SeededEntropy
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.fakes.process import FakeProcessRunner
from ganeti_tx.test.inprocess.disk import put
from ganeti_tx.test.node.hypervisor.kvm.parts import PATHS


class NodeLacksTests(SynchronousTestCase):
    """A node with the user web, two processors, and no KVM."""

    def setUp(self) -> None:
        self.files, self.runner = MemoryFiles(), FakeProcessRunner()
        put(self.files, Path(DEFAULT_PROGRAM), b"7.2")
        put(self.files, BOOT_ID, b"boot-1\n")
        put(self.files, ONLINE, b"0-1\n")

    def faults(self, **params: Any) -> list[str]:
        """What is wrong."""
        probe = AccelerationProbe(PATHS, self.files, self.runner)
        uids = UidPool(PATHS, self.files, SeededEntropy(0), frozenset)
        lacks = NodeLacks(self.files, probe, {"web": TpmUser("web", 1000, 1000)}.get, uids)
        return self.successResultOf(Deferred.fromCoroutine(lacks.faults(KvmParams(**params))))

    def test_nothing(self) -> None:
        """The built-in values need nothing, and start nothing."""
        self.assertEqual(self.faults(), [])
        self.assertEqual(self.runner.calls, [])

    def test_user(self) -> None:
        """Who shall run it is a user here, or numbers, which need no account."""
        for name in ("web", "61000:61000"):
            self.assertEqual(self.faults(security_model="user", security_domain=name), [])
        wrong = "security_domain: there is no user 'ghost' on this node"
        self.assertEqual(self.faults(security_model="user", security_domain="ghost"), [wrong])

    def test_pool(self) -> None:
        """Users of the cluster's pool need one that has users."""
        for pool, wrong in ((None, [NO_POOL]), ("\n", [NO_POOL]), ("0", [NO_POOL]), ("61000-61009\n", [])):
            if pool is not None:
                put(self.files, PATHS.ssconf_file("uid_pool"), pool.encode())
            self.assertEqual(self.faults(security_model="pool"), wrong)

    def test_files(self) -> None:
        """A directory is no file, where one is wanted."""
        put(self.files, Path("/srv/images/cd.iso"), b"")
        for name in ("kernel_path", "cdrom_image_path", "vnc_password_file"):
            self.assertEqual(self.faults(**{name: "/srv/images/cd.iso"}), [])
            self.assertEqual(self.faults(**{name: "/srv/images"}), [f"{name}: /srv/images is a directory, not a file"])
        self.assertEqual(self.faults(mem_path="/srv/images"), [])

    def test_processors(self) -> None:
        """Of each mask one processor is here, as the kernel wants it; one that is no mask is told elsewhere."""
        for mask in ("all", "0", "1-7", "0:all", "x"):
            self.assertEqual(self.faults(cpu_mask=mask), [])
        for mask, part in (("7", "7"), ("0:2-3", "2-3")):
            wrong = f"cpu_mask: {part!r} names no processor of this node, which has 0 to 1"
            self.assertEqual(self.faults(cpu_mask=mask), [wrong])
        self.files.remove(ONLINE)
        self.assertEqual(self.faults(cpu_mask="7"), [])

    def test_kvm(self) -> None:
        """The node's own processor needs a KVM that works; where there is no program, that is what is wrong."""
        (wrong,) = self.faults(cpu_type="host,+vmx")
        self.assertIn("cpu_type host needs KVM", wrong)
        self.assertEqual(self.faults(cpu_type="max"), [])
        for params in ({}, {"cpu_type": "host"}):
            wrong = "kvm_flag: enabled, but this node has no /dev/kvm"
            self.assertEqual(self.faults(kvm_flag="enabled", **params), [wrong])
        put(self.files, KVM_DEVICE, b"")
        self.assertEqual(self.faults(kvm_flag="enabled"), [])
        self.assertEqual(self.faults(cpu_type="host", kvm_path="/no/qemu"), [])
        self.assertEqual(self.runner.calls, [])
        self.runner.script([DEFAULT_PROGRAM], ProcessResult(status=PROBE_STATUS))
        self.assertEqual(self.faults(cpu_type="host"), [])
        self.assertEqual(len(self.faults(cpu_type="host", kvm_flag="disabled")), 1)
