"""A guest whose disks are on a real volume of Gluster: it survives a brick, gets larger and more disks, and moves while it runs."""

from pathlib import Path
from typing import Any
from uuid import uuid4

from attrs import define, field
from msgspec.structs import replace
from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.model.migration import MigrationState
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.storage.gluster.driver import register
from ganeti_tx.node.storage.holders import DiskHolders
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, kvm_spec
from ganeti_tx.test.real.gluster import PATIENCE, GlusterServers, gluster_servers
from ganeti_tx.test.real.guest import make_guest
from ganeti_tx.test.real.kvm_node import KvmNode, SerialConsole
from ganeti_tx.test.real.test_kvm_migration import HERE, free_port

BLOCK_DRIVER = Path("/usr/lib/x86_64-linux-gnu/qemu/block-gluster.so")
MIB = 1 << 20
#: Writes a line to the beginning of each disk, past all caches, and says what is found there.
WRITE = "for d in /dev/vd?; do echo {word} | dd of=$d bs=512 conv=sync,fsync 2>/dev/null; done"
READ = "for d in /dev/vd?; do dd if=$d bs=512 count=1 iflag=direct 2>/dev/null | head -n 1; done"


@define
class GlusterNode(KvmNode):
    """A node with QEMU, and a directory of its own for the volume, outside of its root."""

    directory: Path = field(kw_only=True)
    holders: DiskHolders = field(factory=DiskHolders, init=False)
    storage: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self.paths.file_storage_paths_file.write_text(f"{self.directory}\n")
        self.paths.run_dir.mkdir(parents=True)
        (self.storage,) = register(self).storages  # type: ignore[arg-type]  # it writes no logs of scripts

    async def attach(self, disk: DiskSpec, primary: bool = True) -> AttachedDisk:
        """As the node daemon does it."""
        disk = replace(disk, logical_id=["loop", str(self.directory / f"ganeti/{disk.uuid}.{disk.index}")])
        status = await self.storage.assemble(disk, primary)
        return AttachedDisk(disk, status.dev_path, await self.storage.uri(disk, "kvm"))


class GlusterGuestTests(TestCase):
    """A busybox guest without a root disk, on two nodes."""

    timeout = 600

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        if not BLOCK_DRIVER.exists():
            raise SkipTest(f"{BLOCK_DRIVER} not found; install qemu-block-extra")
        self.servers: GlusterServers = gluster_servers()
        self.guest = await make_guest()
        self.nodes = [GlusterNode(directory=self.servers.directory / f"mounts/{uuid4()}") for _ in range(2)]
        for node in self.nodes:
            self.addCleanup(node.clear)
            self.addCleanup(node.storage.leave)
        self.old, self.new = (node.driver() for node in self.nodes)
        for driver in (self.old, self.new):
            self.addCleanup(driver.stop, NAME, 0.0, force=True)

    def disk(self, index: int, access: str) -> DiskSpec:
        """One of the instance's."""
        place = str(self.nodes[0].directory / f"ganeti/{self.uuids[index]}.{index}")
        return DiskSpec(
            uuid=self.uuids[index], dev_type="gluster", size=8 + index, index=index,
            logical_id=["loop", place], params=self.servers.params(access=access),
        )  # fmt: skip

    def spec(self) -> InstanceSpec:
        """The guest."""
        kernel = {"kernel_path": str(self.guest / "vmlinux"), "initrd_path": str(self.guest / "initrd.img")}
        own: dict[str, Any] = {"kernel_args": "quiet", "kvm_flag": "disabled", "migration_port": free_port()}
        return kvm_spec(vcpus=1, **{**kernel, **own, "migration_bandwidth": 500})

    async def asked(self, console: SerialConsole, command: str, wanted: str) -> None:
        """A command in the guest answers this; the answer is told from the typed line by its end."""
        self.questions += 1
        answer = f"answer {self.questions}"
        console.type(f"echo ans''wer {self.questions} $({command})".encode())
        await console.wait_for(f"{answer} {wanted}\r".encode())

    async def test_whole(self) -> None:
        """One disk by the mount and one by QEMU itself, in all that may happen to them."""
        self.uuids = [str(uuid4()) for _ in range(3)]
        self.questions = 0
        node, spec = self.nodes[0], self.spec()
        disks = [self.disk(0, "kernelspace"), self.disk(1, "userspace")]
        for disk in disks:
            await node.storage.create(disk)
        attached = [await node.attach(disk) for disk in disks]
        self.assertEqual([disk.uri is None for disk in attached], [True, False])
        await self.old.start(spec, attached)
        console = await SerialConsole.of(node.layout(NAME))
        await console.wait_for(b"/ # ")
        await self.asked(console, f"{WRITE.format(word='one')}; {READ}", "one one")
        self.servers.kill_brick(1)
        await self.asked(console, f"{WRITE.format(word='two')}; {READ}", "two two")
        self.servers.start_bricks()
        await self.cut_off(console)
        await node.storage.grow(attached[0].spec, 4)
        self.assertTrue(await self.old.disk_has_grown(NAME, replace(attached[0].spec, size=12)))
        await self.asked(console, "cat /sys/block/vda/size", str(12 * MIB // 512))
        await self.plugged(console, spec)
        await self.moved(console, spec, disks)

    async def cut_off(self, console: SerialConsole) -> None:
        """While a server is silent, what is written waits until that is given up; nothing fails."""
        self.servers.cut(1)
        self.addCleanup(self.servers.mend, 1)
        clock: Any = reactor
        began = clock.seconds()
        await self.asked(console, f"{WRITE.format(word='apart')}; {READ}", "apart apart")
        self.assertGreater(clock.seconds() - began, PATIENCE / 2)
        self.servers.mend(1)

    async def plugged(self, console: SerialConsole, spec: InstanceSpec) -> None:
        """A disk that QEMU opens by itself comes and goes."""
        disk = self.disk(2, "userspace")
        await self.nodes[0].storage.create(disk)
        attached = await self.nodes[0].attach(disk)
        await self.old.plug_disk(spec, attached)
        await self.asked(console, f"sleep 1; {WRITE.format(word='three')}; {READ}", "three three three")
        await self.old.unplug_disk(spec, disk)
        await self.asked(console, "ls -d /sys/block/vd? | wc -l", "2")
        await self.nodes[0].storage.shutdown(disk)
        await self.nodes[0].storage.remove(disk)

    async def moved(self, console: SerialConsole, spec: InstanceSpec, disks: list[DiskSpec]) -> None:
        """It goes to the other node while it runs, and finds there what it has written."""
        there = [await self.nodes[1].attach(disk, primary=False) for disk in disks]
        await self.new.accept(spec, there, await self.old.migration_info(spec), HERE)
        after = await SerialConsole.of(self.nodes[1].layout(NAME))
        clock: Any = reactor
        await self.old.send(spec, HERE, True)
        while (progress := await self.old.migration_progress(NAME)).status is MigrationState.ACTIVE:
            await deferLater(clock, 0.1)
        self.assertIs(progress.status, MigrationState.COMPLETED, progress.reason)
        await self.new.take_over(NAME)
        await self.old.leave_source(NAME)
        for disk in disks:
            await self.nodes[0].storage.shutdown(disk)
        await self.asked(after, READ, "three three")
        await self.asked(after, f"{WRITE.format(word='four')}; {READ}", "four four")
        await self.new.stop(NAME, 0.0, force=True)
        for each in there:
            await self.nodes[1].storage.shutdown(each.spec)
            await self.nodes[1].storage.remove(each.spec)
        self.assertEqual([node.directory.is_mount() for node in self.nodes], [False, False])
