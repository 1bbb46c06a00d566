"""What hypervisors do that change a machine while it runs: IHotplug and IBalloon."""

import msgspec
from zope.interface.verify import verifyObject

from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk, IBalloon, IHotplug
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.hypervisor_case import MEMORY, HypervisorCase

DISKS = ("0d5c0001-0000-4000-8000-00000000000d", "0d5c0002-0000-4000-8000-00000000000d")
NICS = ("0a1c0001-0000-4000-8000-00000000000a", "0a1c0002-0000-4000-8000-00000000000a")


class LiveChangesContract(HypervisorCase):
    """A subclass says what the guest has, and makes disks and interfaces that this node can attach."""

    async def start_guest(self) -> InstanceSpec:
        """An instance with neither disks nor interfaces, whose guest lets devices go."""
        return await self.start()

    async def guest_disks(self) -> list[str]:
        """The uuids of the disks that the guest has."""
        raise NotImplementedError

    async def guest_nics(self) -> dict[str, str]:
        """The uuids of the interfaces that the guest has, each with its MAC address."""
        raise NotImplementedError

    def a_disk(self, number: int) -> AttachedDisk:
        """A disk that is ready."""
        raise NotImplementedError

    def a_nic(self, number: int, mac: str = "aa:00:00:00:00:0") -> NicSpec:
        """An interface of that number."""
        return NicSpec(uuid=NICS[number], mac=f"{mac}{number}", mode="bridged", link="br0")

    def test_abilities(self) -> None:
        """It has every method of the interfaces, and its declaration says so."""
        verifyObject(IHotplug, self.driver)
        verifyObject(IBalloon, self.driver)
        self.assertTrue(HYPERVISORS[Hypervisor(self.driver.name)].hotplug)

    async def test_not_running(self) -> None:
        """What does not run can be given and can lose nothing, which is told by its name; nothing is left."""
        spec, disk, nic = self.spec(), self.a_disk(0), self.a_nic(0)
        for asked in (
            self.driver.check_hotplug(spec),
            self.driver.plug_disk(spec, disk),
            self.driver.unplug_disk(spec, disk.spec),
            self.driver.plug_nic(spec, nic, 0),
            self.driver.unplug_nic(spec, nic),
            self.driver.balloon(self.name, MEMORY),
        ):
            self.assertIn(f"instance {self.name} does not run", await self.refused(asked))
        self.assertEqual(self.remains(), [])

    async def test_plugged(self) -> None:
        """Disks and interfaces come and go, each once, however often it is asked for; a daemon started since knows them."""
        spec = await self.start_guest()
        await self.driver.check_hotplug(spec, disks=True, nics=True)
        for _ in range(2):
            for number in (0, 1):
                await self.driver.plug_disk(spec, self.a_disk(number))
                await self.driver.plug_nic(spec, self.a_nic(number), number)
        self.assertEqual(sorted(await self.guest_disks()), sorted(DISKS))
        self.assertEqual(await self.guest_nics(), {NICS[0]: "aa:00:00:00:00:00", NICS[1]: "aa:00:00:00:00:01"})
        self.driver = self.new_driver()
        for _ in range(2):
            await self.driver.unplug_disk(spec, self.a_disk(0).spec)
            await self.driver.unplug_nic(spec, self.a_nic(0))
        self.assertEqual(await self.guest_disks(), [DISKS[1]])
        self.assertEqual(await self.guest_nics(), {NICS[1]: "aa:00:00:00:00:01"})
        await self.driver.plug_disk(spec, self.a_disk(0))
        self.assertEqual(sorted(await self.guest_disks()), sorted(DISKS))
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])
        self.done(rows.HOTPLUG_DISK, rows.HOTPLUG_NIC)

    async def test_plugged_anew(self) -> None:
        """An interface that went and comes again is as it is then."""
        spec = await self.start_guest()
        await self.driver.plug_nic(spec, self.a_nic(1), 0)
        await self.driver.unplug_nic(spec, self.a_nic(1))
        await self.driver.plug_nic(spec, self.a_nic(1, "aa:00:00:00:00:1"), 0)
        self.assertEqual(await self.guest_nics(), {NICS[1]: "aa:00:00:00:00:11"})

    async def test_balloon(self) -> None:
        """Memory goes down, and up again to what it was started with."""
        spec = await self.start_guest()
        most = int(spec.beparams["maxmem"])
        for memory in (most - 16, most):
            await self.driver.balloon(self.name, memory)
            info = await self.driver.info(self.name)
            assert info is not None
            self.assertEqual(info.memory, memory)
        self.done(rows.BALLOON)

    async def test_bad_balloon(self) -> None:
        """Nothing, and more than it was started with, is refused with what is possible, and changes nothing."""
        spec = msgspec.structs.replace(self.spec(), name=self.name)
        await self.driver.start(spec, [])
        for memory in (0, -1, MEMORY + 1):
            self.assertIn(f"started with {MEMORY} MiB", await self.refused(self.driver.balloon(self.name, memory)))
        info = await self.driver.info(self.name)
        assert info is not None
        self.assertEqual(info.memory, MEMORY)
