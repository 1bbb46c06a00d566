"""Both hypervisors of Xen keep the contract of hypervisors, on a node that is only played."""

from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.instance_record import write
from ganeti_tx.node.hypervisor.interfaces import Owner, RunState
from ganeti_tx.node.hypervisor.xen.hypervisor import XenHypervisor
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.test.contracts.hypervisor import HypervisorContract
from ganeti_tx.test.contracts.hypervisor_case import MEMORY
from ganeti_tx.test.contracts.hypervisor_page import BALLOON
from ganeti_tx.test.node.hypervisor.xen.parts import (
    KINDS,
    NAME,
    PATHS,
    SHOWN_WITH,
    driver_of,
    played_node,
    xen_spec,
)
from ganeti_tx.test.node.hypervisor.xen.world import World

EMULATOR_ENDS = Path(__file__).with_name("captures") / "xl_create_emulator_ends.txt"
CD_ROM = Path("/srv/cd.iso")
ELSEWHERE = {"name": NAME, "uuid": "11111111-0000-4000-8000-000000000001", "vcpus": "1"}


class ParavirtualTests(HypervisorContract):
    """xen-pvm, with what is Xen's own beside the contract."""

    kind: ClassVar[XenKind] = KINDS[0]
    shown_with = SHOWN_WITH
    driver: XenHypervisor

    async def prepare(self) -> None:
        """See `HypervisorContract`."""
        self.node = played_node(World())
        self.before = set(self.node.files.contents())

    def new_driver(self) -> XenHypervisor:
        """See `HypervisorContract`."""
        return driver_of(self.node, self.kind)

    def remains(self) -> list[str]:
        """See `HypervisorContract`."""
        files = sorted(str(path) for path in set(self.node.files.contents()) - self.before)
        return files + [each.name for each in self.node.domains]

    def spec(self, name: str = "", **hvparams: Any) -> InstanceSpec:
        """See `HypervisorContract`."""
        return xen_spec(self.kind, name or self.name, MEMORY, **hvparams)

    def user_can_shut_down(self) -> None:
        """The cluster allows it."""
        self.node.put(PATHS.ssconf_file("enabled_user_shutdown"), "True\n")

    async def test_others(self) -> None:
        """A domain that is not ours is in no list, is not stopped, and keeps its name for itself."""
        self.node.add(ELSEWHERE, self.name, "-b----", 128)
        self.assertEqual(await self.driver.list_instances(), [])
        self.assertIsNone(await self.driver.info(self.name))
        for force in (True, False):
            await self.driver.stop(self.name, 5.0, force)
        self.assertIn("was not started for this instance", await self.refused(self.start()))
        self.assertEqual(self.remains(), [self.name])
        self.assertEqual([argv[:2] for argv in self.node.calls if argv[1] not in ("list", "info")], [])

    async def test_replaced(self) -> None:
        """A domain that somebody made under the name, once ours had ended, is not ours either."""
        await self.start()
        self.node.domains.clear()
        self.node.add(ELSEWHERE, self.name, "-b----", 128)
        self.assertIsNone(await self.driver.info(self.name))
        await self.driver.stop(self.name, 5.0, True)
        self.assertEqual(self.remains(), [self.name])

    async def test_file_of_others(self) -> None:
        """A configuration of an administrator's stays as it is, and is named."""
        path = PATHS.xen_config_dir / self.name
        self.node.put(path, "name = 'other'\n")
        self.assertIn(str(path), await self.refused(self.start()))
        self.assertEqual(self.node.files.read(path, 100), b"name = 'other'\n")
        self.assertEqual(self.remains(), [str(path)])

    async def test_after_power_loss(self) -> None:
        """A configuration of ours that a lost node has left is in nobody's way, and is removed in the end."""
        await self.start()
        self.node.domains.clear()
        self.node.files.remove_tree(PATHS.run_dir)
        await self.start()
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])

    async def test_modes(self) -> None:
        """Only root reads the configuration, which may have a password."""
        await self.start()
        self.assertEqual(self.node.files.stat(PATHS.xen_config_dir / self.name).mode, 0o600)

    async def test_interfaces_here(self) -> None:
        """The node's end of an interface is the domain's own, whoever its address is routed to besides."""
        nics = [
            NicSpec(uuid=f"n{n}", mac=f"aa:00:00:00:00:0{n}", mode="routed", link="", ip=f"192.0.2.{n}") for n in (1, 2)
        ]
        spec = replace(self.spec(), nics=nics)
        self.assertIsNone(await self.driver.interface_to(spec, nics[1]))
        await self.driver.start(spec, [])
        number = self.node.domains[0].id
        own, emulated = f"vif{number}.1", f"vif{number}.1-emu"
        for devices, found in (
            ([own], own),
            ([emulated], emulated),
            ([f"vif{number}.0", f"vif{number + 1}.1", emulated], emulated),
            ([f"vif{number}.0"], None),
            ([f"vif{number}.10"], None),
            ([], None),
        ):
            self.node.routes[nics[1].ip or ""] = devices
            self.assertEqual(await self.driver.interface_to(spec, nics[1]), found, devices)
        self.assertIsNone(await self.driver.interface_to(spec, replace(nics[1], uuid="n3")))

    async def test_power_off(self) -> None:
        """A guest is asked first, and has ended by itself."""
        await self.start()
        await self.driver.stop(self.name, 60.0)
        self.assertEqual(self.remains(), [])
        self.assertNotIn(["xl", "destroy", "1"], self.node.calls)

    async def test_crashed(self) -> None:
        """What has crashed is no machine of anybody's: the next start clears it, for whichever instance."""
        spec = await self.start()
        asked = len(self.node.calls)
        self.assertIsNone(await self.driver.owner(self.name, spec.uuid))
        self.assertEqual(len(self.node.calls), asked)  # xl tells nothing that is not known already
        self.assertEqual(await self.driver.owner(self.name, "another"), Owner(spec.uuid, "xl destroy 1"))
        [domain] = self.node.domains
        domain.letters = "----c-"
        self.assertIsNone(await self.driver.owner(self.name))
        await self.start()

    async def test_ends_meanwhile(self) -> None:
        """One that ends by itself while it is destroyed is gone, though xl then says that there is none."""
        await self.start()
        self.node.before_destroy = self.node.domains.clear
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])

    async def test_cannot_be_destroyed(self) -> None:
        """One that does not go is told of, and is remembered."""
        await self.start()
        domain = self.node.domains[0]
        self.node.before_destroy = lambda: setattr(domain, "id", domain.id + 100)
        self.assertIn("xl destroy failed: ", await self.refused(self.driver.stop(self.name, 0.0, force=True)))
        self.assertEqual(self.driver.kept_names(), [self.name])

    async def test_deaf(self) -> None:
        """One that does not hear is cut off when its time is over."""
        self.node.deaf = True
        await self.start()
        before = self.node.world.clock.seconds()
        await self.driver.stop(self.name, 60.0)
        self.assertGreaterEqual(self.node.world.clock.seconds() - before, 60.0)
        self.assertEqual(self.remains(), [])

    async def test_deaf_reboot(self) -> None:
        """One that does not hear of a reboot is started anew."""
        self.node.deaf = True
        spec = await self.start()
        await self.driver.reboot(spec, [])
        self.assertEqual([each.id for each in self.node.domains], [2])

    async def test_exit_on_reboot(self) -> None:
        """One that ends on a reboot is started anew without being asked."""
        spec = await self.start(reboot_behavior="exit")
        await self.driver.reboot(spec, [])
        self.assertIsNotNone(await self.driver.info(self.name))
        self.assertNotIn(["xl", "reboot", "-F", "1"], self.node.calls)

    async def test_user_shutdown(self) -> None:
        """A guest that ended by itself is told of as such, can be started again, and stopping it leaves nothing."""
        self.user_can_shut_down()
        for again in (False, True):
            await self.start()
            self.node.power_off(self.node.domains[0])
            info = await self.driver.info(self.name)
            assert info is not None
            self.assertEqual(info.state, RunState.SHUTDOWN_BY_USER)
            if again:
                await self.driver.stop(self.name, 60.0)
        self.assertEqual(self.remains(), [str(PATHS.ssconf_file("enabled_user_shutdown"))])

    async def test_no_user_shutdown(self) -> None:
        """Without the switch it has just ended, as one that crashed has with it."""
        await self.start()
        self.node.power_off(self.node.domains[0])
        self.assertIsNone(await self.driver.info(self.name))
        self.user_can_shut_down()
        await self.start()
        self.node.domains[0].letters = "---sc-"
        self.node.domains[0].reason = "3"
        self.assertIsNone(await self.driver.info(self.name))
        self.assertEqual(await self.driver.list_instances(), [])
        await self.start()
        self.assertEqual(len(self.node.domains), 1)

    async def test_balloon(self) -> None:
        """Memory goes down and up again; a guest that keeps it may have what it had."""
        await self.start()
        for memory in (MEMORY - 16, MEMORY):
            await self.driver.balloon(self.name, memory)
            self.assertEqual(self.node.domains[0].memory, memory)
        self.node.stubborn = True
        self.assertIn("may have 64 again", await self.refused(self.driver.balloon(self.name, MEMORY - 16)))
        self.assertEqual(self.node.calls[-1], ["xl", "mem-set", "1", "64m"])
        self.assertIn("started with 64 MiB", await self.refused(self.driver.balloon(self.name, 65)))
        self.done(BALLOON)

    async def test_processors(self) -> None:
        """More of a processor than there is, or one that the node has not, is refused before anything is made."""
        self.assertIn("cpu_cap: 101", await self.refused(self.start(cpu_cap=101)))
        self.assertIn("has processors 0 to 3", await self.refused(self.start(cpu_mask="2-4")))
        self.assertIn(
            "has processors 0 to 3", await self.refused(self.driver.validate(self.spec(cpu_mask="2-4").hvparams))
        )
        await self.driver.validate(self.spec(cpu_mask="2-3").hvparams)
        self.assertIn("2 masks for 1", await self.refused(self.start(cpu_mask="1:2")))
        self.assertEqual(self.remains(), [])

    async def test_reasons(self) -> None:
        """What xl complains of first is the reason; nothing is left."""
        self.node.before_create = lambda: self.node.add(ELSEWHERE, self.name, "-b----", 64)
        text = await self.refused(self.start())
        self.assertIn('Domain with name "web1.example.com" already exists.', text)
        self.assertEqual(self.remains(), [self.name])

    async def test_facts(self) -> None:
        """Memory and processors are Xen's, not those of the kernel that asks."""
        await self.start()
        info = await self.driver.node_info()
        self.assertEqual(info["memory_dom0"], 768)
        self.assertEqual((info["memory_hv"], info["memory_free"]), (19, 1535 - 768 - 19 - MEMORY))
        self.assertEqual(
            (info["cpu_total"], info["cpu_sockets"], info["cpu_dom0"], info["hv_version"]), (4, 2, 1, "4.17.7")
        )

    async def test_console_command(self) -> None:
        """Our client of xl's console."""
        console = await self.driver.console(self.spec())
        self.assertEqual((console.command or [])[1:], ["-P", "-m", "ganeti_tx.xen_console", self.name])

    async def test_unreadable(self) -> None:
        """What is remembered and cannot be read is an error that names the file."""
        spec = await self.start()
        await write(self.node.files, self.driver.own.layout(spec.name).record, b"{", 0o600)
        self.assertIn("domain.json", await self.refused(self.driver.info(self.name)))


class FullyVirtualTests(ParavirtualTests):
    """xen-hvm."""

    kind = KINDS[1]

    async def test_emulator(self) -> None:
        """Why its QEMU has ended at once is in a log of Xen's, whose last line is told, or where that would be."""
        self.node.create_fails = EMULATOR_ENDS.read_bytes()
        log = self.driver.own.layout(self.name).emulator_log
        self.assertIn(f"{log} may say why", await self.refused(self.start()))
        why = "xen-qemu-system-i386: -vnc 127.0.0.1:5100: Failed to find an available port: Address already in use"
        self.node.put(log, f"char device redirected to /dev/pts/2 (label serial0)\n{why}\n")
        self.assertIn(why, await self.refused(self.start()))
        self.assertEqual(self.remains(), [str(log)])

    def cdrom(self) -> dict[str, Any]:
        """See `HypervisorContract`."""
        self.node.put(CD_ROM, "image")
        return {"cdrom_image_path": str(CD_ROM), "boot_order": "dc"}
