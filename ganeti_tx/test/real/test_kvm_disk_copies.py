"""Real QEMUs on nodes that do not reach each other's disks: a machine that goes over takes along what is on its own."""

import os
import socket
import struct
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.model.migration import MigrationState, Side
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm import migration_link
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.operation_cells import DONE
from ganeti_tx.test.lab.times import PAGES_VARIABLE
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, kvm_spec
from ganeti_tx.test.real.guest import make_guest
from ganeti_tx.test.real.kvm_node import KvmNode, SerialConsole
from ganeti_tx.test.real.migration_pairs import pairs
from ganeti_tx.test.real.test_kvm_migration import HERE, free_port
from ganeti_tx.test.real.test_kvm_migration_secrets import SOURCE, sends_a_machine

#: Of NBD: what a server begins with (the magics of it and of options, and flags), and a client that asks for encryption.
GREETING = b"NBDMAGICIHAVEOPT\0\3"
START_TLS = struct.pack("!I8sII", 3, b"IHAVEOPT", 5, 0)
#: Seconds after which a stranger takes it that nobody is there.
PATIENCE = 0.5
#: MiB of the disks, the first of which is written to, and how much of the second is more than zeros.
SIZES = (8, 5)
#: The guest writes a number every 50 ms, each to the next place of its disk, and says each that is there.
WRITING = (
    b"i=0; while :; do echo $i | dd of=/dev/vda bs=512 seek=$i conv=sync,notrunc 2>/dev/null; sync; echo done $i;"
    b" i=$((i+1)); usleep 50000; done"
)


def falls_silent(port: int, address: str) -> socket.socket:
    """Connect from that address, have encryption begin, and say nothing any more; the connection, if there is one."""
    link = socket.socket()
    link.settimeout(PATIENCE)
    link.bind((address, 0))
    if link.connect_ex((HERE, port)) == 0:
        link.recv(len(GREETING), socket.MSG_WAITALL)
        link.sendall(START_TLS)
    return link


class DiskCopyCase(TestCase):
    """Two node roots, with files of their own for one and the same disks."""

    timeout = 300
    console_class = SerialConsole

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        self.guest = await make_guest()
        self.port = free_port()
        self.nodes = [KvmNode(), KvmNode()]
        for node in self.nodes:
            self.addCleanup(node.clear)
        self.old, self.new = (node.driver() for node in self.nodes)
        self.consoles: list[SerialConsole] = []
        self.strangers = ExitStack()
        self.addCleanup(self.strangers.close)

    async def tearDown(self) -> None:  # type: ignore[override]  # trial waits for it
        for node, driver in zip(self.nodes, (self.old, self.new), strict=True):
            await driver.stop(NAME, 0.0, force=True)
            self.assertEqual(node.remains(), [])
        for console in self.consoles:
            await console.closed

    def spec(self, **hvparams: Any) -> InstanceSpec:
        """The guest, with its kernel on both nodes."""
        kernel = {"kernel_path": str(self.guest / "vmlinux"), "initrd_path": str(self.guest / "initrd.img")}
        own = {"kernel_args": "quiet", "kvm_flag": "disabled", "migration_port": self.port, "migration_bandwidth": 500}
        return kvm_spec(vcpus=1, **{**kernel, **own, **hvparams})

    def path(self, node: int, number: int) -> Path:
        """Where a disk is on a node."""
        return self.nodes[node].top / f"disk{number}"

    def disks(self, node: int) -> list[AttachedDisk]:
        """Those of a node, empty."""
        found = []
        for number, size in enumerate(SIZES):
            path = self.path(node, number)
            with path.open("wb") as file:
                file.truncate(size << 20)
            uuid = f"{number}1111111-1111-4111-8111-111111111111"
            spec = DiskSpec(uuid=uuid, dev_type="file", size=size, logical_id=["loop", str(path)], index=number)
            found.append(AttachedDisk(spec, str(path)))
        return found

    async def runs(self, **hvparams: Any) -> InstanceSpec:
        """The guest runs on the old node and writes, and the new one waits for it with empty disks."""
        spec = self.spec(**hvparams)
        disks = self.disks(0)
        with self.path(0, 1).open("r+b") as file:
            file.write(os.urandom(1 << 20))
        await self.old.start(spec, disks)
        console = await self.console(0)
        await console.wait_for(b"/ # ")
        console.type(WRITING)
        await console.wait_for(b"done 5\r")
        await self.new.accept(
            spec, self.disks(1), await self.old.migration_info(spec), HERE, pairs()[1], disks_come=True
        )
        return spec

    async def console(self, node: int) -> SerialConsole:
        """What the guest says there."""
        console = await self.console_class.of(self.nodes[node].layout(NAME))
        self.consoles.append(console)
        return console

    async def copies(self, spec: InstanceSpec) -> None:
        """All of its disks is there."""
        port = await self.new.offer_disks(spec, HERE, SOURCE)
        self.strangers.enter_context(await deferToThread(falls_silent, port, HERE))
        await deferToThread(sends_a_machine, port, SOURCE)
        await self.old.copy_disks(spec, HERE, port, pairs()[0], SOURCE)
        while not (told := await self.old.copy_progress(NAME)).whole:
            self.assertEqual(told.fault, "")
            await pause()
        self.assertGreaterEqual(told.copied, sum(SIZES) << 20)


class DiskCopyTests(DiskCopyCase):
    """A guest that writes."""

    async def refused(self, work: Any) -> str:
        """Why something is not done."""
        try:
            await work
        except HypervisorError as error:
            return str(error)
        raise AssertionError("it was done")

    def numbers(self, node: int) -> int:
        """How many numbers are on the first disk, one after the other. @raise AssertionError: one is missing."""
        data = self.path(node, 0).read_bytes()
        found = 0
        while data[found * 512 : found * 512 + 20].rstrip(b"\0") == b"%d\n" % found:
            found += 1
        self.assertEqual(data[found * 512 :].strip(b"\0"), b"")
        return found

    async def test_taken_along(self) -> None:
        """What was on the disks, and what the guest writes before, meanwhile and afterwards, is on those of its new node."""
        spec = await self.runs()
        after = await self.console(1)
        await self.copies(spec)
        await self.old.send(spec, HERE, False, pairs()[0])  # a live one harms guests that are emulated, and busy
        while (progress := await self.old.migration_progress(NAME, 10.0)).status is MigrationState.ACTIVE:
            pass
        self.assertIs(progress.status, MigrationState.COMPLETED, progress.reason)
        await self.new.take_over(NAME)
        await self.old.leave_source(NAME)
        self.assertIs(await self.new.migration_side(NAME), Side.RUNS)
        await after.wait_for(b"done", times=10)
        await self.new.stop(NAME, 0.0, force=True)
        said = (self.consoles[0].said + after.said).count(b"done ") - 1
        self.assertGreaterEqual(self.numbers(1), said)
        self.assertGreater(self.numbers(1), self.numbers(0))
        self.assertEqual(self.path(1, 1).read_bytes(), self.path(0, 1).read_bytes())
        rows.hold(self.new.name, {rows.COPIED: DONE})

    async def test_longer(self) -> None:
        """A disk that is longer than it is recorded is not begun to be copied, and it is said what to do."""
        spec = self.spec()
        disks = self.disks(0)
        os.truncate(self.path(0, 1), 6 << 20)
        await self.old.start(spec, disks)
        await self.new.accept(
            spec, self.disks(1), await self.old.migration_info(spec), HERE, pairs()[1], disks_come=True
        )
        port = await self.new.offer_disks(spec, HERE, SOURCE)
        why = await self.refused(self.old.copy_disks(spec, HERE, port, pairs()[0], SOURCE))
        self.assertIn(f"disk {disks[1].spec.uuid} has {6 << 20} bytes, and its copy would have {5 << 20}; if", why)
        self.assertIn("'gnt-cluster repair-disk-sizes' has the size recorded", why)
        self.assertEqual((await self.old.copy_progress(NAME)).total, 0)
        self.assertIs(await self.old.migration_side(NAME), Side.RUNS)

    async def test_taken_back(self) -> None:
        """It goes on where it is when its new node dies, and can go again."""
        if not os.environ.get(PAGES_VARIABLE):
            raise SkipTest(f"the logic of it is tested without QEMU; with {PAGES_VARIABLE} set it is run")
        spec = await self.runs()
        await self.copies(spec)
        await self.new.stop(NAME, 0.0, force=True)
        console = self.consoles[0]
        heard = console.said.count(b"done")
        await console.wait_for(b"done", times=heard + 10)
        self.assertIn("disk ", (await self.old.copy_progress(NAME)).fault)
        for _ in range(2):
            await self.old.stay_on_source(NAME, False)
        async with self.old.machines.running(NAME) as running:
            nodes = await running.client.execute("query-named-block-nodes", {"flat": True})
            self.assertEqual([each["node-name"] for each in nodes if each["node-name"].startswith("copy-")], [])
            self.assertEqual(await running.client.execute("query-jobs"), [])
        self.patch(migration_link, "CONNECT_LIMIT", 0.5)
        self.assertIn(
            "within 0.5 s: Connection refused",
            await self.refused(self.old.copy_disks(spec, HERE, self.port, pairs()[0])),
        )
        self.assertIs(await self.old.migration_side(NAME), Side.RUNS)
        await self.new.accept(
            spec, self.disks(1), await self.old.migration_info(spec), HERE, pairs()[1], disks_come=True
        )
        await self.copies(spec)
        heard = console.said.count(b"done")
        await console.wait_for(b"done", times=heard + 3)


async def pause() -> None:
    """Let a little time pass."""
    clock: Any = reactor
    await deferLater(clock, 0.05)
