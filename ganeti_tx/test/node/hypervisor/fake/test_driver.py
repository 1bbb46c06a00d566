"""The fake hypervisor keeps the contract, and its own particulars."""

from pathlib import Path

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.node.hypervisor.fake.driver import FakeHypervisor, Running
from ganeti_tx.node.hypervisor.host import CPUINFO, MEMINFO
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.hypervisor import HypervisorContract
from ganeti_tx.test.contracts.live_changes import DISKS, LiveChangesContract
from ganeti_tx.test.contracts.standing_still import check_stands_still
from ganeti_tx.test.fakes.files import MemoryFiles


class FakeHypervisorTests(LiveChangesContract, HypervisorContract):
    """Files in memory, a clock that stands still."""

    shown_with = "files in memory; nothing runs"

    async def prepare(self) -> None:
        """See `HypervisorContract`."""
        self.files, self.clock, self.paths = MemoryFiles(), Clock(), Paths(Path("/n1"))
        for path, text in (
            (MEMINFO, b"MemTotal: 8192000 kB\nMemAvailable: 4096000 kB\n"),
            (CPUINFO, b"processor: 0\n"),
        ):
            self.files.mkdir(path.parent)
            await self.files.write_atomic(path, text)
        self.before = set(self.files.contents())

    def new_driver(self) -> FakeHypervisor:
        """See `HypervisorContract`."""
        return FakeHypervisor(self.files, self.paths, self.clock.seconds)

    def remains(self) -> list[str]:
        """See `HypervisorContract`."""
        return sorted(str(path) for path in set(self.files.contents()) - self.before)

    def running(self) -> Running:
        """What its one file says."""
        (path,) = set(self.files.contents()) - self.before
        return msgspec.json.decode(self.files.read(path, 1 << 16), type=Running)

    async def guest_disks(self) -> list[str]:
        """See `LiveChangesContract`."""
        return [*self.running().disks]

    async def guest_nics(self) -> dict[str, str]:
        """See `LiveChangesContract`."""
        return {uuid: nic.mac for uuid, nic in self.running().nics.items()}

    async def test_stands_still(self) -> None:
        """Its guests, which do nothing, obey."""
        await self.start()
        await check_stands_still(self.driver, self.name)

    def a_disk(self, number: int) -> AttachedDisk:
        """See `LiveChangesContract`."""
        spec = DiskSpec(uuid=DISKS[number], dev_type="file", size=8, logical_id=["loop", f"/srv/{number}"])
        return AttachedDisk(spec, f"/srv/{number}")

    async def test_memory(self) -> None:
        """What runs takes its memory from what is free."""
        before = (await self.driver.node_info())["memory_free"]
        await self.start()
        self.assertEqual((await self.driver.node_info())["memory_free"], before - 64)

    async def test_grown(self) -> None:
        """It comes to have more processors and memory, and loses neither."""
        spec = await self.start()
        vcpus, memory = int(spec.beparams["vcpus"]), int(spec.beparams["maxmem"])
        self.assertIn("can lose neither", await self.refused(self.driver.grow(spec, vcpus, memory - 1)))
        for _ in range(2):
            await self.driver.check_growth(spec, vcpus + 1, memory + 64)
            await self.driver.grow(spec, vcpus + 1, memory + 64)
        info = await self.driver.info(self.name)
        assert info is not None
        self.assertEqual((info.vcpus, info.memory), (vcpus + 1, memory + 64))
        self.done(rows.ADDED)

    async def test_time(self) -> None:
        """Its instances use one processor all the time."""
        await self.start()
        self.clock.advance(7)
        info = await self.driver.info(self.name)
        assert info is not None
        self.assertEqual(info.cpu_seconds, 7.0)

    async def test_corrupt(self) -> None:
        """A file that cannot be read is an error that names it, and a stop makes up for it."""
        await self.start()
        (path,) = set(self.files.contents()) - self.before
        await self.files.write_atomic(path, b"{")
        failure = self.failureResultOf(Deferred.fromCoroutine(self.driver.info(self.name)), HypervisorError)
        self.assertIn(str(path), str(failure.value))
        await self.driver.stop(self.name, 1.0)
        self.assertEqual(self.remains(), [])
