"""What every IHypervisor does."""

from typing import Any

import msgspec
from zope.interface.verify import verifyObject

from ganeti_tx.model.console import console_of
from ganeti_tx.model.enums import Hypervisor
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.node.hypervisor.interfaces import IHypervisor, IKeepsFirmware, IKeepsState, IPlugs, Owner, RunState
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.hypervisor_case import HypervisorCase
from ganeti_tx.test.contracts.hypervisor_inability import inabilities
from ganeti_tx.test.model import samples

#: The node call table's `hv_info_keys`.
NODE_INFO_KEYS = {
    *("memory_total", "memory_free", "memory_dom0", "memory_hv"),
    *("cpu_total", "cpu_nodes", "cpu_sockets", "cpu_dom0", "hv_version"),
}
BAD_NAMES = (
    "",
    ".",
    "..",
    "a/b",
    "/etc/passwd",
    "../x",
    "-daemonize",
    ".hidden",
    "a,b",
    "a b",
    "a\n",
    "a\0",
    "x" * 254,
)


class HypervisorContract(HypervisorCase):
    """Mixed into the case of a hypervisor.

    @cvar shown_with: what stands for the hypervisor in the tests of a subclass; one subclass of each says it.
    @cvar power_off_limit: seconds that guests have, most of which do not hear that they shall end.
    """

    shown_with = ""
    power_off_limit = 0.5

    def test_interface(self) -> None:
        """It has every method of the interface."""
        verifyObject(IHypervisor, self.driver)
        if self.shown_with:
            self.found(rows.SHOWN_WITH, self.shown_with)

    async def test_unable(self) -> None:
        """What it does not provide is refused, as it is declared, with a reason."""
        found = await inabilities(self.driver, self.spec())
        rows.hold(self.driver.name, {row: self.of_any(reason) for row, reason in found.items()})

    async def test_kept(self) -> None:
        """Who keeps files of what may end by itself says of which instances, so that they can be cleared away."""
        keeps = IKeepsState.providedBy(self.driver)
        if not keeps:
            self.found(rows.KEPT, "it keeps nothing of an instance that has ended by itself")
            return
        await self.start()
        self.assertEqual(self.driver.kept_names(), [self.name])
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.driver.kept_names(), [])
        self.done(rows.KEPT)

    async def test_removed(self) -> None:
        """What outlives its runs beside its disks goes with the instance."""
        spec = await self.start()
        await self.driver.stop(self.name, 0.0, force=True)
        if IKeepsFirmware.providedBy(self.driver):
            for _ in range(2):
                await self.driver.forget(spec)
            self.assertEqual(self.driver.owners(), [])
        self.assertEqual(self.remains(), [])
        self.done(rows.REMOVED)

    async def test_link(self) -> None:
        """Who connects interfaces says beforehand that there is no such bridge."""
        if not IPlugs.providedBy(self.driver):
            self.found(rows.LINK, "its nodes are not asked beforehand")
            return
        link = NicLink(mode="bridged", link="nobridge0", vlan="")
        self.assertIn("nobridge0", await self.refused(self.driver.check_link(link)))
        self.done(rows.LINK)

    async def test_stop(self) -> None:
        """A guest is asked to end, and cut off when its time is over; nothing is left."""
        await self.start()
        await self.driver.stop(self.name, self.power_off_limit)
        self.assertIsNone(await self.driver.info(self.name))
        self.assertEqual(self.remains(), [])
        self.done(rows.STOP)

    def cdrom(self) -> dict[str, Any]:
        """The parameters with which an instance starts from a CD-ROM image that is there, if it can."""
        raise NotImplementedError

    async def test_cdrom(self) -> None:
        """An instance starts from an image of a CD-ROM where its parameters have one."""
        if not HYPERVISORS[Hypervisor(self.driver.name)].has("cdrom_image_path"):
            self.found(rows.CD_ROM, "none of its parameters names a CD-ROM image")
            return
        await self.start(**self.cdrom())
        self.assertIsNotNone(await self.driver.info(self.name))
        self.done(rows.CD_ROM)

    async def test_nothing(self) -> None:
        """A node on which nothing was started has nothing."""
        self.assertIsNone(await self.driver.info(self.name))
        self.assertEqual(await self.driver.list_instances(), [])

    async def test_start(self) -> None:
        """What was started is there, with its memory and processors, known as its instance's; afterwards nothing of it is."""
        self.assertIsNone(await self.driver.owner(self.name))
        spec = await self.start()
        info = await self.driver.info(self.name)
        assert info is not None
        self.assertEqual((info.name, info.vcpus, info.memory), (self.name, 1, self.memory))
        self.assertEqual((info.uuid, await self.driver.owner(self.name)), (spec.uuid, Owner(spec.uuid, info.ended_by)))
        self.assertIsNone(await self.driver.owner(self.name, spec.uuid))
        self.assertIsNotNone(await self.driver.owner(self.name, "another"))
        self.assertEqual(info.state, RunState.RUNNING)
        self.assertGreaterEqual(info.cpu_seconds, 0.0)
        self.assertNotEqual(self.remains(), [])
        await self.driver.stop(self.name, 1.0, force=True)
        self.assertIsNone(await self.driver.info(self.name))
        self.assertIsNone(await self.driver.owner(self.name))
        self.assertEqual(self.remains(), [])
        self.done(rows.START, rows.STOP_AT_ONCE, rows.INFO)

    async def test_start_twice(self) -> None:
        """Starting what runs is an error, and the running one stays as it is."""
        spec = await self.start()
        before = await self.driver.info(self.name)
        self.assertIn("runs already", await self.refused(self.driver.start(spec, self.disks())))
        after = await self.driver.info(self.name)
        assert before is not None and after is not None
        self.assertEqual(before.hv_id, after.hv_id)

    async def test_list(self) -> None:
        """All that runs is listed, each with an id of its own; stopping one leaves the others."""
        names = ["db1.example.com", "web1.example.com"]
        for name in names:
            await self.start(name)
        self.assertEqual(sorted(each.name for each in await self.driver.list_instances()), names)
        await self.driver.stop(names[0], 0.0, force=True)
        self.assertEqual([each.name for each in await self.driver.list_instances()], names[1:])
        await self.start("new1.example.com")
        self.assertEqual(len({each.hv_id for each in await self.driver.list_instances()}), 2)
        self.done(rows.LIST)

    async def test_stop_nothing(self) -> None:
        """Stopping what is not there succeeds, with and without force, and again after a stop."""
        for force in (True, False):
            await self.driver.stop(self.name, 1.0, force)
        await self.start()
        for _ in range(2):
            await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])

    async def test_start_again(self) -> None:
        """A name is free again after a stop."""
        for _ in range(2):
            await self.start()
            await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])

    async def test_paused(self) -> None:
        """A paused start is there, and can be stopped without waiting for its guest; or it is refused."""
        if not HYPERVISORS[Hypervisor(self.driver.name)].pauses:
            reason = await self.refused(self.start(paused=True))
            self.assertIn("paused", reason)
            self.assertEqual(self.remains(), [])
            self.found(rows.START_PAUSED, reason)
            return
        await self.start(paused=True)
        info = await self.driver.info(self.name)
        assert info is not None
        self.assertEqual(info.state, RunState.RUNNING)
        await self.driver.stop(self.name, 100_000.0)
        self.assertEqual(self.remains(), [])
        self.done(rows.START_PAUSED)

    async def test_reboot(self) -> None:
        """A reboot keeps the instance; one of what does not run is an error that names it."""
        spec = await self.start()
        await self.driver.reboot(spec, self.disks())
        self.assertIsNotNone(await self.driver.info(self.name))
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertIn(self.name, await self.refused(self.driver.reboot(spec, self.disks())))
        self.done(rows.REBOOT)

    async def test_restarted_daemon(self) -> None:
        """A new driver over the same directories sees the instance, refuses a second one, and can stop it."""
        spec = await self.start()
        before = await self.driver.info(self.name)
        self.driver = self.new_driver()
        after = await self.driver.info(self.name)
        assert before is not None and after is not None
        self.assertEqual((before.hv_id, before.memory), (after.hv_id, after.memory))
        self.assertEqual([each.name for each in await self.driver.list_instances()], [self.name])
        self.assertIn("runs already", await self.refused(self.driver.start(spec, self.disks())))
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])
        self.done(rows.RESTARTED)

    async def test_names(self) -> None:
        """A name that would leave its directory or become an option is refused everywhere, and nothing is made."""
        for name in BAD_NAMES:
            spec = msgspec.structs.replace(self.spec(), name=name)
            for asked in (
                self.driver.start(spec, []),
                self.driver.stop(name, 0.0),
                self.driver.stop(name, 0.0, force=True),
                self.driver.info(name),
                self.driver.reboot(spec, []),
            ):
                self.assertIn(repr(name), await self.refused(asked))
        self.assertEqual(self.remains(), [])

    async def test_node(self) -> None:
        """A node that can start instances has no faults and tells all keys with numbers that make sense."""
        self.assertEqual(await self.driver.verify(), [])
        info = await self.driver.node_info()
        self.assertEqual(set(info), NODE_INFO_KEYS)
        self.assertTrue(0 < info["memory_free"] <= info["memory_total"])
        self.assertGreaterEqual(info["cpu_total"], 1)
        self.done(rows.NODE)

    async def test_validate(self) -> None:
        """What can be started is valid."""
        await self.driver.validate(self.spec().hvparams)
        self.done(rows.VALIDATE)

    async def test_console(self) -> None:
        """What the driver says of the console is what the master takes."""
        console = console_of(self.spec(), samples.NODE, await self.driver.console(self.spec()))
        self.assertEqual(console.instance, self.name)
        self.found(rows.CONSOLE, console.kind)
