"""Disks, network interfaces and memory of a real guest that runs: they come and go, and the guest sees it."""

from pathlib import Path
from typing import Any

import msgspec
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater
from twisted.trial.unittest import SkipTest

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.kvm import state as states
from ganeti_tx.node.hypervisor.kvm.command.disks import disk_id, thread_id
from ganeti_tx.node.hypervisor.kvm.command.nics import nic_id
from ganeti_tx.node.hypervisor.kvm.state import InstanceRuntime
from ganeti_tx.test.contracts import hypervisor_page as rows
from ganeti_tx.test.contracts.live_changes import DISKS, NICS, LiveChangesContract
from ganeti_tx.test.real.going_over import goes_over
from ganeti_tx.test.real.guest import BOOT_LIMIT, make_guest
from ganeti_tx.test.real.kvm_case import KvmCase, MiB
from ganeti_tx.test.real.kvm_node import KvmNode, SerialConsole, thread_cpus

UP = b"guest without a root disk is up"
#: What a guest with Linux needs at least, in MiB.
GUEST_MEMORY = 128
#: The same for one that can get more: it keeps 64 MiB for devices that cannot reach memory above 4 GiB.
GROWING_MEMORY = 256


class KvmLiveChangesTests(KvmCase, LiveChangesContract):
    """A diskless busybox guest."""

    console: SerialConsole

    async def prepare(self) -> None:
        """See `HypervisorCase`."""
        await super().prepare()
        self.guest = await make_guest()
        (self.node.paths.conf_dir / "user-mode-network").touch()
        self.asked = 0

    async def start_guest(self, memory: int = GUEST_MEMORY, **hvparams: Any) -> InstanceSpec:
        """See `LiveChangesContract`."""
        kernel = {"kernel_path": str(self.guest / "vmlinux"), "initrd_path": str(self.guest / "initrd.img")}
        spec = self.spec(**{**kernel, "kernel_args": "quiet", **hvparams})
        spec.beparams.update(maxmem=memory, minmem=memory)
        await self.driver.start(spec, [])
        await self.booted()
        return spec

    async def booted(self) -> None:
        """Wait until the guest has a shell on its console, whose connection ends with the test."""
        self.console = console = await SerialConsole.of(self.node.layout(self.name))

        async def hang_up() -> None:
            if not console.closed.called and console.transport is not None:
                console.transport.loseConnection()
            await console.closed

        self.addCleanup(lambda: Deferred.fromCoroutine(hang_up()))
        await console.wait_for(UP)
        await console.wait_for(b"/ # ")

    async def devices(self) -> set[str]:
        """The ids of QEMU's devices."""
        async with self.node.driver().machines.monitor(self.node.layout(self.name)) as client:
            return {each["name"] for each in await client.execute("qom-list", {"path": "/machine/peripheral"})}

    async def guest_disks(self) -> list[str]:
        """See `LiveChangesContract`."""
        devices = await self.devices()
        return [uuid for uuid in DISKS if disk_id(uuid) in devices]

    async def guest_nics(self) -> dict[str, str]:
        """See `LiveChangesContract`."""
        devices = await self.devices()
        return {nic.uuid: nic.mac for nic in self.state().nics if nic_id(nic.uuid) in devices}

    def state(self) -> InstanceRuntime:
        """What the node remembers of the instance."""
        state = states.load(self.node.files, self.node.layout(self.name))
        assert state is not None
        return state

    async def ask_guest(self, command: str) -> list[str]:
        """What a command in the guest prints."""
        self.asked += 1
        begin, end = f"begin{self.asked}", f"end{self.asked}"
        seen = len(self.console.said)
        self.console.type(f"echo be''gin{self.asked}; {command}; echo e''nd{self.asked}".encode())
        await self.console.wait_for(end.encode())
        said = self.console.said[seen:].decode("utf-8", "replace").replace("\r", "")
        return said.partition(begin + "\n")[2].partition(end)[0].split()

    async def until_guest_says(self, command: str, expected: list[str]) -> None:
        """Ask it again until it says so."""
        said: list[str] = []
        for _ in range(int(BOOT_LIMIT)):
            said = await self.ask_guest(command)
            if said == expected:
                return
            await deferLater(reactor, 0.2)
        self.assertEqual(said, expected)

    async def test_guest_sees_disks(self) -> None:
        """The guest has the disk, writes to it, and loses it; what it wrote is in the file."""
        spec = await self.start_guest()
        sizes = "cat /sys/block/vd*/size 2>/dev/null"
        for number in (0, 1):
            await self.driver.plug_disk(spec, self.a_disk(number))
        await self.until_guest_says(sizes, [str(3 * 2048), str(4 * 2048)])
        await self.ask_guest("echo it was here > /dev/vdb; sync")
        self.assertTrue((self.node.top / "disk1").read_bytes().startswith(b"it was here"))
        await self.driver.unplug_disk(spec, self.a_disk(0).spec)
        await self.until_guest_says(sizes, [str(4 * 2048)])
        await self.driver.unplug_disk(spec, self.a_disk(1).spec)
        await self.until_guest_says(sizes, [])
        self.assertEqual(self.state().disks, [])

    async def test_grown(self) -> None:
        """A disk that came grows before the guest's eyes, and is there after a reset, as the interfaces and memory are."""
        spec = await self.start_guest()
        await self.driver.plug_disk(spec, self.a_disk(0))
        await self.driver.plug_nic(spec, self.a_nic(0), 0)
        grown = msgspec.structs.replace(self.a_disk(0).spec, size=9)
        with (self.node.top / "disk0").open("r+b") as file:
            file.truncate(9 * MiB)
        self.assertTrue(await self.driver.disk_has_grown(self.name, grown))
        await self.until_guest_says("cat /sys/block/vd*/size", [str(9 * 2048)])
        await self.driver.reboot(spec, [self.a_disk(0)])
        await self.console.wait_for(UP, times=2)
        await self.until_guest_says(
            "cat /sys/block/vd*/size /sys/class/net/eth*/address", [str(9 * 2048), self.a_nic(0).mac]
        )

    async def test_disks_of_the_start(self) -> None:
        """A disk that was there from the start goes, comes back where it was, and goes again."""
        spec = await self.start_guest()
        await self.driver.stop(self.name, 0.0, force=True)
        await self.driver.start(spec, [self.a_disk(0), self.a_disk(1)])
        await self.booted()
        place = self.state().places[disk_id(DISKS[0])]
        for _ in range(2):
            await self.driver.unplug_disk(spec, self.a_disk(0).spec)
            await self.until_guest_says("cat /sys/block/vd*/size", [str(4 * 2048)])
            self.assertEqual([disk.uuid for disk in self.state().disks], [DISKS[1]])
            await self.driver.plug_disk(spec, self.a_disk(0))
            self.assertEqual([disk.uuid for disk in self.state().disks], [*DISKS])
            self.assertEqual(self.state().places[disk_id(DISKS[0])], place)

    async def test_scsi(self) -> None:
        """Disks on a SCSI bus come and go; without such a bus it is told what would help."""
        spec = await self.start_guest(disk_type="scsi-hd", scsi_controller_type="virtio-scsi-pci")
        self.assertIn("bus scsi.0", await self.refused(self.driver.plug_disk(spec, self.a_disk(0))))
        await self.driver.stop(self.name, 0.0, force=True)
        await self.driver.start(spec, [self.a_disk(0)])
        await self.booted()
        await self.driver.check_hotplug(spec, disks=True)
        await self.driver.plug_disk(spec, self.a_disk(1))
        await self.until_guest_says("cat /sys/block/sd*/size", [str(3 * 2048), str(4 * 2048)])
        await self.driver.unplug_disk(spec, self.a_disk(0).spec)
        await self.until_guest_says("cat /sys/block/sd*/size", [str(4 * 2048)])

    async def test_guest_sees_interfaces(self) -> None:
        """The guest has the interface with its address, and loses it; its place stays when it is plugged anew."""
        spec = await self.start_guest()
        addresses = "cat /sys/class/net/eth*/address 2>/dev/null"
        await self.driver.plug_nic(spec, self.a_nic(0), 0)
        await self.driver.plug_nic(spec, self.a_nic(1), 0)
        await self.until_guest_says(f"{addresses} | sort", ["aa:00:00:00:00:00", "aa:00:00:00:00:01"])
        self.assertEqual([nic.uuid for nic in self.state().nics], [NICS[1], NICS[0]])
        before = self.state().places[nic_id(NICS[1])]
        await self.driver.unplug_nic(spec, self.a_nic(1))
        await self.until_guest_says(addresses, ["aa:00:00:00:00:00"])
        await self.driver.plug_nic(spec, self.a_nic(1, "aa:00:00:00:00:1"), 1)
        await self.until_guest_says(f"{addresses} | sort", ["aa:00:00:00:00:00", "aa:00:00:00:00:11"])
        self.assertEqual(self.state().places[nic_id(NICS[1])], before)

    async def test_guest_sees_memory(self) -> None:
        """The guest has less memory, and as much as before again."""
        spec = await self.start_guest()
        free = "sed -n 's/^MemTotal: *\\([0-9]*\\).*/\\1/p' /proc/meminfo"
        (before,) = await self.ask_guest(free)
        await self.driver.balloon(self.name, GUEST_MEMORY - 32)
        (less,) = await self.ask_guest(free)
        self.assertEqual(int(before) - int(less), 32 * 1024)
        await self.driver.balloon(self.name, GUEST_MEMORY)
        self.assertEqual(await self.ask_guest(free), [before])
        self.assertEqual(int(spec.beparams["maxmem"]), GUEST_MEMORY)

    async def test_guest_grows(self) -> None:
        """A guest gets processors and memory as far as it was started for them; a machine that takes over has them, too."""
        spec = await self.start_guest(GROWING_MEMORY, max_vcpus=3, max_memory=GROWING_MEMORY + 256, cpu_mask="0")
        for vcpus, memory, why in (
            (4, GROWING_MEMORY, "at most 3 processors; set max_vcpus"),
            (1, GROWING_MEMORY + 512, f"at most {GROWING_MEMORY + 256} MiB; set max_memory"),
            (1, GROWING_MEMORY + 100, "grows by steps of 128 MiB"),
            (1, GROWING_MEMORY - 1, "can lose none while it runs"),
        ):
            for asked in (self.driver.check_growth(spec, vcpus, memory), self.driver.grow(spec, vcpus, memory)):
                self.assertIn(why, await self.refused(asked))
        await self.driver.check_growth(spec, 3, GROWING_MEMORY + 128)
        for _ in range(2):
            await self.driver.grow(spec, 3, GROWING_MEMORY + 128)
        info = await self.driver.info(self.name)
        assert info is not None
        self.assertEqual((info.vcpus, info.memory), (3, GROWING_MEMORY + 128))
        self.assertEqual([thread_cpus(info.hv_id, f"CPU {number}/") for number in range(3)], [[{0}]] * 3)
        # When QEMU has a processor the guest has yet to hear of it.
        self.console.type(b"cd /sys/devices/system/cpu; up='for c in cpu1 cpu2; do echo 1 > $c/online; done'")
        self.console.type(b"until [ $(nproc) = 3 ]; do sleep 1; eval $up; done 2>/dev/null; nproc | sed s/^/has:/")
        await self.console.wait_for(b"has:3")
        self.done(rows.ADDED)
        await self.driver.plug_disk(spec, self.a_disk(0))
        there = KvmNode()
        self.addCleanup(there.clear)
        grown = {**spec.beparams, "vcpus": 3, "maxmem": GROWING_MEMORY + 128}
        spec = msgspec.structs.replace(spec, beparams=grown)
        info = await goes_over(spec, [self.a_disk(0)], self.driver, there.driver())
        self.assertEqual((info.vcpus, info.memory), (3, GROWING_MEMORY + 128))
        self.assertEqual([thread_cpus(info.hv_id, f"CPU {number}/") for number in range(3)], [[{0}]] * 3)
        self.console = await SerialConsole.of(there.layout(self.name))
        self.console.type(b"for c in cpu1 cpu2; do echo 0 > $c/online; echo 1 > $c/online; done")
        self.console.type(b"echo $(nproc) $(cat /sys/block/vda/size) | sed s/^/there:/")
        await self.console.wait_for(b"there:3 6144")
        await there.driver().stop(self.name, 0.0, force=True)
        await self.console.closed

    async def test_threads_of_disks(self) -> None:
        """A disk that comes has a thread, which goes with it."""
        await self.start_guest(disk_iothread=True)
        disk = self.a_disk(0)
        await self.driver.plug_disk(self.spec(), disk)
        self.assertEqual(await self.threads(), [thread_id(disk.spec.uuid)])
        await self.driver.unplug_disk(self.spec(), disk.spec)
        self.assertEqual(await self.threads(), [])

    async def threads(self) -> list[str]:
        """The ids of QEMU's threads for disks."""
        async with self.node.driver().machines.monitor(self.node.layout(self.name)) as client:
            return [each["id"] for each in await client.execute("query-iothreads")]

    async def test_confined(self) -> None:
        """A QEMU that may open no files of the node gets its disks all the same."""
        self.node.paths.ssconf_file("uid_pool").parent.mkdir(parents=True)
        self.node.paths.ssconf_file("uid_pool").write_text("62000-62999\n")
        self.node.top.chmod(0o711)
        spec = await self.start_guest(security_model="pool", use_chroot=True)
        disk = self.a_disk(0)
        Path(disk.path).chmod(0o600)
        await self.driver.plug_disk(spec, disk)
        await self.until_guest_says("cat /sys/block/vd*/size", [str(3 * 2048)])
        await self.ask_guest("echo it was here > /dev/vda; sync")
        self.assertTrue(Path(disk.path).read_bytes().startswith(b"it was here"))
        await self.driver.unplug_disk(spec, disk.spec)

    async def test_stuck_guest(self) -> None:
        """A guest that does not let go keeps what it has, which is told; as soon as it does the disk can be forgotten."""
        await self.start()
        spec, disk = self.spec(), self.a_disk(0)
        driver: Any = self.driver
        driver.plugging.disks.limit = 0.5
        await self.driver.plug_disk(spec, disk)
        for _ in range(2):
            self.assertIn("has not let", await self.refused(self.driver.unplug_disk(spec, disk.spec)))
            self.assertEqual(await self.guest_disks(), [DISKS[0]])
            self.assertEqual([each.uuid for each in self.state().disks], [DISKS[0]])
        await self.driver.reboot(spec, [disk])  # firmware that starts anew lets everything go
        await self.driver.unplug_disk(spec, disk.spec)
        self.assertEqual((await self.guest_disks(), self.state().disks), ([], []))

    async def test_paused(self) -> None:
        """A guest that was not let run yet cannot let go, which is told at once."""
        await self.start(paused=True)
        await self.driver.plug_disk(self.spec(), self.a_disk(0))
        self.assertIn("prelaunch", await self.refused(self.driver.unplug_disk(self.spec(), self.a_disk(0).spec)))

    async def test_refused_first(self) -> None:
        """What this machine cannot do is refused before anything is done, and says why."""
        for hvparams, disks, nics, why in (
            ({"machine_version": "q35"}, True, False, "bus pcie.0"),
            ({"acpi": False}, False, True, "bus pci.0"),
            ({"disk_type": "ide"}, True, False, "disk_type ide"),
            ({"nic_type": "ne2k_isa"}, False, True, "nic_type ne2k_isa"),
        ):
            spec = await self.start(**hvparams)
            before = self.state()
            await self.driver.check_hotplug(spec)
            self.assertIn(why, await self.refused(self.driver.check_hotplug(spec, disks, nics)))
            change = (
                self.driver.plug_disk(spec, self.a_disk(0)) if disks else self.driver.plug_nic(spec, self.a_nic(0), 0)
            )
            self.assertIn(why, await self.refused(change))
            self.assertEqual(self.state(), before)
            await self.driver.stop(self.name, 0.0, force=True)

    async def test_failed_disk(self) -> None:
        """A disk that cannot be opened leaves nothing in QEMU, and is not remembered."""
        spec = await self.start()
        before = self.state().disks
        disk = msgspec.structs.replace(self.a_disk(0).spec)
        for source in (
            AttachedDisk(disk, "/no/such/disk"),
            AttachedDisk(disk, str(self.node.top)),
            AttachedDisk(disk, "", "nbd:unix:/no/such socket"),
        ):
            self.assertIn(self.name, await self.refused(self.driver.plug_disk(spec, source)))
            self.assertEqual((await self.guest_disks(), self.state().disks), ([], before))
        await self.driver.plug_disk(spec, self.a_disk(0))

    async def test_by_address(self) -> None:
        """A disk that QEMU opens itself by an address comes and goes."""
        spec = await self.start_guest()
        disk = self.a_disk(0)
        await self.driver.plug_disk(spec, AttachedDisk(disk.spec, "", f"file:{disk.path}"))
        await self.until_guest_says("cat /sys/block/vd*/size", [str(3 * 2048)])
        await self.driver.unplug_disk(spec, disk.spec)
        await self.until_guest_says("cat /sys/block/vd*/size 2>/dev/null", [])

    async def test_block_device(self) -> None:
        """A device with blocks comes and goes as a file does."""
        backing = self.a_disk(0)
        made = await self.node.runner.run(["losetup", "--find", "--show", backing.path])
        if not made.succeeded:
            raise SkipTest(f"no loop device can be made: {made.describe()}")
        device = made.stdout.decode().strip()
        self.addCleanup(self.node.runner.run, ["losetup", "--detach", device])
        spec = await self.start_guest()
        await self.driver.plug_disk(spec, AttachedDisk(backing.spec, device))
        await self.until_guest_says("cat /sys/block/vd*/size", [str(3 * 2048)])
        await self.driver.unplug_disk(spec, backing.spec)
        await self.until_guest_says("cat /sys/block/vd*/size 2>/dev/null", [])

    async def test_read_only(self) -> None:
        """A disk that may only be read is such for the guest, too."""
        spec, disk = await self.start_guest(), self.a_disk(0)
        read_only = msgspec.structs.replace(disk.spec, mode="ro")
        await self.driver.plug_disk(spec, AttachedDisk(read_only, disk.path))
        await self.driver.plug_disk(spec, self.a_disk(1))
        await self.until_guest_says("cat /sys/block/vd*/ro", ["1", "0"])

    async def test_no_balloon_driver(self) -> None:
        """A guest that gives nothing back keeps what it has, and the reason is told."""
        await self.start()
        driver: Any = self.driver
        asking: Deferred[None] = Deferred.fromCoroutine(driver.balloon(self.name, 32))
        self.assertIn("virtio_balloon", await self.refused(asking))
        info = await self.driver.info(self.name)
        assert info is not None
        self.assertEqual(info.memory, 64)
