"""Live migration with two node roots and real QEMU processes: a guest that counts goes from one to the other."""

import re
import socket
from typing import Any

from msgspec.structs import replace
from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.model.migration import MigrationProgress, MigrationState, Side
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.runtime.addresses import is_own_address
from ganeti_tx.test.contracts.live_changes import DISKS
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, kvm_spec
from ganeti_tx.test.real.guest import make_guest
from ganeti_tx.test.real.kvm_node import KvmNode, SerialConsole, until

HERE = "127.0.0.1"
COUNTING = b"i=0; while :; do echo tick $i; i=$((i+1)); usleep 50000; done"


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.create_server((HERE, 0)) as server:
        port: int = server.getsockname()[1]
        return port


class MigrationTests(TestCase):
    """A busybox guest without disks counts on its serial console."""

    timeout = 400
    #: Where the new node waits.
    here = HERE

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        self.guest = await make_guest()
        self.port = free_port()
        self.nodes = [KvmNode(), KvmNode()]
        for node in self.nodes:
            self.addCleanup(node.clear)
        self.old, self.new = (node.driver() for node in self.nodes)

    async def tearDown(self) -> None:  # type: ignore[override]  # trial waits for it
        for driver in (self.old, self.new):
            await driver.stop(NAME, 0.0, force=True)
        for console in (self.before, getattr(self, "after", None)):
            if console is not None:
                await console.closed

    def spec(self, **hvparams: Any) -> InstanceSpec:
        """The guest, with its kernel on both nodes."""
        kernel = {"kernel_path": str(self.guest / "vmlinux"), "initrd_path": str(self.guest / "initrd.img")}
        own = {"kernel_args": "quiet", "kvm_flag": "disabled", "migration_port": self.port, "migration_bandwidth": 500}
        return kvm_spec(vcpus=1, **{**kernel, **own, **hvparams})

    async def boot(self, **hvparams: Any) -> InstanceSpec:
        """Start it on the old node, and let it count."""
        spec = self.spec(**hvparams)
        await self.old.start(spec, [])
        self.before = await SerialConsole.of(self.nodes[0].layout(NAME))
        await self.before.wait_for(b"/ # ")
        self.before.type(COUNTING)
        await self.before.wait_for(b"tick 9\r")
        return spec

    async def accept(self, spec: InstanceSpec) -> None:
        """Have the new node wait for it, and listen to what it says there."""
        await self.new.accept(spec, [], await self.old.migration_info(spec), self.here)
        self.assertIs(await self.new.migration_side(NAME), Side.INCOMING)
        self.after = await SerialConsole.of(self.nodes[1].layout(NAME))

    async def sent(self) -> MigrationProgress:
        """How it ended."""
        clock: Any = reactor
        while (progress := await self.old.migration_progress(NAME)).status is MigrationState.ACTIVE:
            await deferLater(clock, 0.1)
        return progress

    async def begun(self) -> None:
        """Something has been sent: a machine that has heard of no other one yet waits on."""
        clock: Any = reactor
        while not (await self.old.migration_progress(NAME)).transferred_ram:
            await deferLater(clock, 0.05)

    def assert_counted(self) -> None:
        """No number is lost or said twice, over both consoles."""
        said = self.before.said.split(COUNTING)[-1] + self.after.said
        numbers = [int(number) for number in re.findall(rb"tick (\d+)\r", said)]
        self.assertEqual(numbers, list(range(len(numbers))))

    async def check_goes_over(self, live: bool, **hvparams: Any) -> None:
        """From the first number to one that is said on the new node, and nothing is left on the old one."""
        spec = await self.boot(**hvparams)
        await self.accept(spec)
        await self.old.send(spec, self.here, live)
        progress = await self.sent()
        self.assertIs(progress.status, MigrationState.COMPLETED, progress.reason)
        self.assertIsNotNone(progress.downtime)
        self.assertGreater(progress.total_time or 0, 0)
        await self.new.take_over(NAME)
        self.assertIs(await self.old.migration_side(NAME), Side.SENT)
        self.assertIs(await self.new.migration_side(NAME), Side.RUNS)
        self.assertIn("may run elsewhere", str(await self.failed(self.old.stay_on_source(NAME, False))))
        self.assertIn("runs here already", str(await self.failed(self.new.refuse(NAME))))
        await self.old.leave_source(NAME)
        self.assertEqual(self.nodes[0].remains(), [])
        heard = self.after.said.count(b"tick")
        await self.after.wait_for(b"tick", times=heard + 10)
        self.assert_counted()
        self.assertIn("it was not sent", str(await self.failed(self.new.leave_source(NAME))))
        await self.new.stop(NAME, 0.0, force=True)
        self.assertEqual(self.nodes[1].remains(), [])

    async def failed(self, work: Any) -> HypervisorError:
        """The error of what must not work."""
        try:
            await work
        except HypervisorError as error:
            return error
        raise AssertionError("it was done")

    async def test_live(self) -> None:
        """It counts on while its memory goes over."""
        await self.check_goes_over(True, migration_caps="xbzrle:auto-converge")

    async def test_non_live(self) -> None:
        """It stands still meanwhile, and counts on there; over IPv6, where this machine has it."""
        if is_own_address("::1"):
            self.here = "::1"
        await self.check_goes_over(False)

    async def test_changed(self) -> None:
        """What came while it ran is on the new node where it was on the old one, and can go there."""
        for node in self.nodes:
            (node.paths.conf_dir / "user-mode-network").touch()
        spec = replace(
            await self.boot(), nics=[NicSpec(uuid="n5", mac="aa:00:00:00:00:05", mode="bridged", link="br0")]
        )
        disks = [self.disk(number) for number in (0, 1)]
        for disk in disks:
            await self.old.plug_disk(spec, disk)
        await self.old.plug_nic(spec, spec.nics[0], 0)
        await self.old.unplug_disk(spec, disks[0].spec)
        await self.new.accept(spec, disks[1:], await self.old.migration_info(spec), HERE)
        self.after = await SerialConsole.of(self.nodes[1].layout(NAME))
        await self.old.send(spec, HERE, True)
        progress = await self.sent()
        self.assertIs(progress.status, MigrationState.COMPLETED, progress.reason)
        await self.new.take_over(NAME)
        await self.old.leave_source(NAME)
        await self.after.wait_for(b"tick", times=10)
        self.assert_counted()
        self.after.type(b"\x03")
        self.after.type(b"cat /sys/block/vd*/size /sys/class/net/eth*/address; echo that''s all")
        await self.after.wait_for(b"thats all")
        self.assertIn(b"10240\r\naa:00:00:00:00:05\r\nthats all", self.after.said)
        await self.new.plug_disk(spec, disks[0])
        for disk in disks:
            await self.new.unplug_disk(spec, disk.spec)
        await self.new.unplug_nic(spec, spec.nics[0])
        self.after.type(b"ls /sys/class/net; ls -d /sys/block/vd*; echo no''thing")
        await self.after.wait_for(b"nothing")
        self.assertNotIn(b"/sys/block/vda\r", self.after.said)

    def disk(self, number: int) -> AttachedDisk:
        """A disk that both nodes have."""
        path = self.nodes[0].top / f"disk{number}"
        with path.open("wb") as file:
            file.truncate((4 + number) << 20)
        spec = DiskSpec(
            uuid=DISKS[number], dev_type="sharedfile", size=4 + number, logical_id=["loop", str(path)], index=number
        )
        return AttachedDisk(spec, str(path))

    async def test_cancelled(self) -> None:
        """It stays where it is, and can go again; who waited for it leaves nothing."""
        spec = await self.boot(migration_bandwidth=1)
        await self.accept(spec)
        await self.old.send(spec, HERE, True)
        self.assertIs(await self.old.migration_side(NAME), Side.SENDING)
        self.assertIn("already", str(await self.failed(self.old.send(spec, HERE, True))))
        for _ in range(2):
            await self.old.stay_on_source(NAME, False)
        self.assertIs((await self.sent()).status, MigrationState.CANCELLED)
        self.assertIs(await self.old.migration_side(NAME), Side.RUNS)
        for _ in range(2):
            await self.new.refuse(NAME)
        self.assertEqual(self.nodes[1].remains(), [])
        heard = self.before.said.count(b"tick")
        await self.before.wait_for(b"tick", times=heard + 10)
        quick = self.spec()
        await self.accept(quick)
        await self.old.send(quick, HERE, True)
        self.assertIs((await self.sent()).status, MigrationState.COMPLETED)
        await self.new.take_over(NAME)
        await self.after.wait_for(b"tick", times=10)
        self.assert_counted()

    async def test_target_dies(self) -> None:
        """It goes on where it is when the new node is cut off in the midst."""
        spec = await self.boot(migration_bandwidth=1)
        await self.accept(spec)
        await self.old.send(spec, HERE, True)
        await self.new.stop(NAME, 0.0, force=True)
        self.assertIs((await self.sent()).status, MigrationState.FAILED)
        await self.old.stay_on_source(NAME, False)
        heard = self.before.said.count(b"tick")
        await self.before.wait_for(b"tick", times=heard + 10)
        self.assert_counted()

    async def test_source_dies(self) -> None:
        """Half a machine never runs: who waits for the rest ends, or is ended."""
        spec = await self.boot(migration_bandwidth=1)
        await self.accept(spec)
        await self.old.send(spec, HERE, True)
        await self.begun()
        await self.old.stop(NAME, 0.0, force=True)
        await until(lambda: not self.nodes[1].processes())
        self.assertIsNone(await self.new.migration_side(NAME))
        await self.new.refuse(NAME)
        self.assertEqual(self.nodes[1].remains(), [])
        self.assertNotIn(b"tick", self.after.said)

    async def test_called_back(self) -> None:
        """What was sent in full goes on where it was if the new node has not let it run."""
        spec = await self.boot()
        await self.accept(spec)
        await self.old.send(spec, HERE, True)
        self.assertIs((await self.sent()).status, MigrationState.COMPLETED)
        await self.new.stop(NAME, 0.0, force=True)
        await self.old.stay_on_source(NAME, True)
        heard = self.before.said.count(b"tick")
        await self.before.wait_for(b"tick", times=heard + 10)

    async def test_refused(self) -> None:
        """What cannot go is said before anything is sent."""
        spec = await self.boot()
        unknown = replace(spec, hvparams={**spec.hvparams, "migration_caps": "teleport"})
        self.assertIn("teleport", str(await self.failed(self.old.migration_info(unknown))))
        info = dict(await self.old.migration_info(spec))
        self.assertRegex(info["machine"], r"pc-i440fx-\d")
        other = {**info, "acceleration": "kvm"}
        self.assertIn("fail it over", str(await self.failed(self.new.accept(spec, [], other, HERE))))
        unknown_type = {**info, "machine": "pc-i440fx-99.0"}
        self.assertIn("is not known to", str(await self.failed(self.new.accept(spec, [], unknown_type, HERE))))
        more = {**info, "machine": f"{info['machine']},initrd=/etc/shadow"}
        self.assertIn("not a type of machine", str(await self.failed(self.new.accept(spec, [], more, HERE))))
        gone = {**info, "disks": ["gone"]}
        self.assertIn("other disks", str(await self.failed(self.new.accept(spec, [], gone, HERE))))
        self.assertIn("migrate-incoming", str(await self.failed(self.new.accept(spec, [], info, "192.0.2.1"))))
        self.assertEqual(self.nodes[1].remains(), [])
