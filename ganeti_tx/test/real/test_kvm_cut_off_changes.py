"""Changes of a running QEMU that are cut off at each of their commands: nothing is left, or a later one finishes them."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.command.block_nodes import node_name
from ganeti_tx.node.hypervisor.kvm.command.disks import disk_id
from ganeti_tx.node.hypervisor.kvm.command.nics import nic_id
from ganeti_tx.node.hypervisor.kvm.hypervisor import KvmHypervisor
from ganeti_tx.node.hypervisor.kvm.monitors import Monitors
from ganeti_tx.node.hypervisor.kvm.qmp import QmpLost
from ganeti_tx.test.contracts.live_changes import DISKS, NICS
from ganeti_tx.test.node.hypervisor.kvm.parts import NAME, kvm_spec
from ganeti_tx.test.real.kvm_node import KvmNode

Change = Callable[[KvmHypervisor], Awaitable[None]]
MOST_COMMANDS = 40


@define
class CutClient:
    """A connection that is lost before a command, for once or for good."""

    inner: Any
    left: int
    for_good: bool

    def execute(self, command: str, *args: Any, **options: Any) -> Deferred[Any]:
        """As a connection's."""
        self.left -= 1
        if self.left == 0 or (self.left < 0 and self.for_good):
            raise QmpLost(f"QMP {command}: cut off")
        answer: Deferred[Any] = self.inner.execute(command, *args, **options)
        return answer

    def next_event(self, *args: Any) -> Deferred[Any]:
        """As a connection's."""
        event: Deferred[Any] = self.inner.next_event(*args)
        return event


@define
class CutMonitors:
    """Connections of which the commands are counted, and that are cut off."""

    inner: Monitors
    at: int
    for_good: bool
    client: CutClient | None = field(default=None, init=False)

    @asynccontextmanager
    async def open(self, socket: Path) -> AsyncIterator[CutClient]:
        """As `Monitors` does."""
        async with self.inner.open(socket) as client:
            self.client = CutClient(client, self.at, self.for_good)
            yield self.client

    @property
    def reached(self) -> bool:
        """Whether there was such a command."""
        return self.client is None or self.client.left <= 0


class CutOffTests(TestCase):
    """Firmware under QEMU, to which devices come, and which never lets go of one."""

    timeout = 300

    async def setUp(self) -> None:  # type: ignore[override]  # trial waits for it
        self.node = KvmNode()
        self.addCleanup(self.node.clear)
        (self.node.paths.conf_dir / "user-mode-network").touch()
        self.driver = self.node.driver()
        self.spec: InstanceSpec = kvm_spec(vcpus=1, kvm_flag="disabled")
        path = self.node.top / "disk"
        path.write_bytes(b"\0" * 4096)
        spec = DiskSpec(uuid=DISKS[0], dev_type="file", size=1, logical_id=["loop", str(path)], index=0)
        self.disk = AttachedDisk(spec, str(path))
        self.nic = NicSpec(uuid=NICS[0], mac="aa:00:00:00:00:01", mode="bridged", link="br0")
        await self.driver.start(self.spec, [])

    async def in_qemu(self) -> set[str]:
        """Devices and block nodes, among those that come."""
        async with self.driver.machines.monitor(self.node.layout(NAME)) as client:
            devices = await client.execute("qom-list", {"path": "/machine/peripheral"})
            nodes = await client.execute("query-named-block-nodes", {"flat": True})
        found = {each["name"] for each in devices} | {each["node-name"] for each in nodes}
        return found & {disk_id(DISKS[0]), node_name(DISKS[0]), nic_id(NICS[0])}

    def remembered(self) -> list[str]:
        """The uuids of disks and interfaces."""
        state = states.load(self.node.files, self.node.layout(NAME))
        assert state is not None
        return [*(disk.uuid for disk in state.disks), *(nic.uuid for nic in state.nics)]

    async def cut(self, change: Change, at: int, for_good: bool) -> bool:
        """Whether the change was cut off at that command."""
        driver: Any = self.node.driver()
        driver.machines.monitors = monitors = CutMonitors(driver.machines.monitors, at, for_good)
        try:
            await change(driver)
        except HypervisorError as error:
            self.assertIn("cut off", str(error))
            self.assertIn(NAME, str(error))
            return True
        self.assertFalse(monitors.reached)
        return False

    async def walk(self, plug: Change, unplug: Change, there: set[str], uuid: str) -> None:
        """Cut it off everywhere."""
        for for_good in (False, True):
            at = 1
            while await self.cut(plug, at, for_good):
                if not for_good:
                    self.assertEqual((await self.in_qemu(), self.remembered()), (set(), []))
                else:
                    await unplug(self.node.driver())
                    self.assertEqual((await self.in_qemu(), self.remembered()), (set(), []))
                at += 1
                self.assertLess(at, MOST_COMMANDS)
            self.assertGreater(at, 8)
            self.assertEqual((await self.in_qemu(), self.remembered()), (there, [uuid]))
            await self.driver.stop(NAME, 0.0, force=True)
            await self.driver.start(self.spec, [])
        for at in range(1, MOST_COMMANDS):
            cut_off = await self.cut(plug, at, True)
            await plug(self.node.driver())
            self.assertEqual((await self.in_qemu(), self.remembered()), (there, [uuid]))
            if not cut_off:
                break
            await self.driver.stop(NAME, 0.0, force=True)
            await self.driver.start(self.spec, [])

    async def test_disk(self) -> None:
        """A disk is there in the end, or neither in QEMU nor remembered."""
        await self.walk(
            lambda driver: driver.plug_disk(self.spec, self.disk),
            lambda driver: driver.unplug_disk(self.spec, self.disk.spec),
            {disk_id(DISKS[0]), node_name(DISKS[0])},
            DISKS[0],
        )

    async def test_interface(self) -> None:
        """So it is with an interface."""
        await self.walk(
            lambda driver: driver.plug_nic(self.spec, self.nic, 0),
            lambda driver: driver.unplug_nic(self.spec, self.nic),
            {nic_id(NICS[0])},
            NICS[0],
        )
