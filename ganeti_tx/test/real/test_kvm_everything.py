"""A real QEMU takes machines with every parameter set, and tells that it has made them so."""

import os
from collections.abc import Mapping
from typing import Any

from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.bootstrap.keys import write_spice_keys
from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.migration import MigrationState
from ganeti_tx.node.hypervisor.kvm.firmware import FirmwareStore
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.test.node.hypervisor.kvm.command.everything import with_spice, with_vnc
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, NIC, attached, kvm_spec
from ganeti_tx.test.real.guest import make_guest
from ganeti_tx.test.real.kvm_node import KvmNode, display_port
from ganeti_tx.test.real.test_kvm_migration import HERE, free_port

#: What needs something of the node that not every machine has.
OF_THE_NODE = ("cpu_limit", "cpu_weight", "io_weight", "memory_limit", "vhost_net")
DISK_SIZE = 1 << 20


class EverythingTests(TestCase):
    """A node with all files that they need, and whose interfaces are QEMU's own network."""

    timeout = 300

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        guest = await make_guest()
        self.node = KvmNode()
        self.addCleanup(self.node.clear)
        self.driver: KvmHypervisor = self.node.driver()
        (self.node.paths.conf_dir / "user-mode-network").touch()
        files = self.files = self.node.top / "files"
        for directory in ("pages", "x509"):
            (files / directory).mkdir(parents=True)
        for name in ("first.iso", "second.iso", "disk"):
            (files / name).write_bytes(bytes(DISK_SIZE))
        (files / "floppy").write_bytes(bytes(1440 << 10))
        (files / "password").write_text("s3cr3t99\n")
        (files / "vmlinuz").symlink_to(guest / "vmlinux")
        (files / "initrd").symlink_to(guest / "initrd.img")
        paths = self.node.paths
        paths.data_dir.mkdir(parents=True)
        write_spice_keys(paths, "cluster.example.com")
        (files / "x509" / "ca-cert.pem").symlink_to(paths.spice_ca_pem)
        for name in ("server-cert.pem", "server-key.pem"):
            (files / "x509" / name).symlink_to(paths.spice_pem)

    async def told(self, params: Mapping[str, Any], *questions: str) -> dict[str, Any]:
        """What QEMU answers to questions, when it has been started with one disk and one interface and stands still."""
        wanted = {name: value for name, value in params.items() if name not in OF_THE_NODE}
        spec = kvm_spec([NIC], display_port(), **wanted)
        try:
            await self.driver.start(spec, [attached(path=str(self.files / "disk"))], paused=True)
        except HypervisorError as error:
            if "; install" in str(error):
                raise SkipTest(str(error)) from None
            raise
        async with self.node.driver().machines.monitor(self.node.layout(NAME)) as client:
            answers = {question: await client.execute(question) for question in questions}
        await self.driver.stop(NAME, 0.0, force=True)
        self.assertEqual([path for path in self.node.remains() if "ssconf" not in path], [])
        return answers

    async def test_vnc(self) -> None:
        """Its CD-ROMs, floppy and disk are there; VNC asks for certificate and password."""
        told = await self.told(with_vnc(self.files), "query-block", "query-vnc", "query-cpus-fast", "query-status")
        blocks = {each["device"]: each["inserted"] for each in told["query-block"] if "inserted" in each}
        read_only = {name: each["ro"] for name, each in blocks.items()}
        self.assertEqual(read_only, {"drive-d0": False, "cdrom0": True, "cdrom1": True, "floppy0": False})
        self.assertEqual(blocks["drive-d0"]["cache"], {"direct": True, "no-flush": False, "writeback": True})
        self.assertEqual((told["query-vnc"]["auth"], told["query-vnc"]["enabled"]), ("vencrypt+x509+vnc", True))
        self.assertEqual(len(told["query-cpus-fast"]), 2)
        self.assertEqual(told["query-status"]["status"], "prelaunch")

    async def test_spice(self) -> None:
        """It has its firmware, a TPM, a thread for its disk, room for processors and memory, and SPICE with a password."""
        questions = ("query-block", "query-tpm", "query-iothreads", "query-hotpluggable-cpus", "query-spice")
        told = await self.told(with_spice(self.files), *questions, "query-memory-size-summary")
        self.assertLessEqual({"pflash0", "pflash1", "drive-d0"}, {each["device"] for each in told["query-block"]})
        self.assertEqual([each["model"] for each in told["query-tpm"]], ["tpm-crb"])
        self.assertEqual([each["id"] for each in told["query-iothreads"]], ["thread-d0"])
        there = ["qom-path" in each for each in told["query-hotpluggable-cpus"]]
        self.assertEqual((len(there), sum(there)), (4, 2))
        self.assertEqual((told["query-spice"]["enabled"], told["query-spice"]["auth"]), (True, "spice"))
        self.assertIn("tls-port", told["query-spice"])
        self.assertEqual(told["query-memory-size-summary"]["base-memory"], 128 << 20)

    async def test_firmware_goes_along(self) -> None:
        """In a live migration the new node gets what the firmware has written and the state of the TPM, which no two have alike."""
        there = KvmNode()
        self.addCleanup(there.clear)
        values: dict[str, Any] = {"uefi": True, "tpm": True, "machine_version": "q35", "kvm_flag": "disabled"}
        spec = kvm_spec(**values, migration_port=free_port(), migration_bandwidth=1024, migration_downtime=2000)
        here, copy = (FirmwareStore(node.paths, spec.uuid) for node in (self.node, there))
        try:
            await self.driver.start(spec, [], paused=True)
        except HypervisorError as error:
            raise SkipTest(str(error)) from None
        await self.driver.stop(NAME, 0.0, force=True)
        with here.variables.open("r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"x")
        await self.driver.start(spec, [], paused=True)
        told = await self.driver.migration_info(spec)
        await there.driver().accept(spec, [], told, HERE)
        await self.driver.send(spec, HERE, True)
        progress = await self.driver.migration_progress(NAME, 200.0)
        self.assertIs(progress.status, MigrationState.COMPLETED, progress)
        await there.driver().take_over(NAME)
        self.assertEqual(copy.variables.read_bytes()[-1:], b"x")
        states = [[each.read_bytes() for each in store.tpm.glob("*.permall")] for store in (here, copy)]
        self.assertEqual((len(states[0]), states[0]), (1, states[1]))
        await there.driver().stop(NAME, 0.0, force=True)
        await self.driver.leave_source(NAME)
        self.assertEqual(there.remains(), [])
