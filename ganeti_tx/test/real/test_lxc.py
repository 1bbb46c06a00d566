"""The LXC driver keeps the contract with real containers; starts that fail leave nothing."""

import os
import pty
import select
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import SkipTest

from ganeti_tx.model.hypervisors.lxc import LxcParams
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.lxc.control_groups import CONTROLLERS, TOP
from ganeti_tx.node.hypervisor.lxc.hypervisor import LxcHypervisor
from ganeti_tx.node.hypervisor.lxc.layout import container_layout
from ganeti_tx.test.contracts.hypervisor import HypervisorContract
from ganeti_tx.test.contracts.hypervisor_case import MEMORY
from ganeti_tx.test.real.kvm_node import until
from ganeti_tx.test.real.lxc_node import WITH_SHELL, LxcNode, why_not

BRIDGE = "gtxlxcbr"
MAC = "aa:00:00:7e:57:01"
TABLE, ROUTED = "76767", "192.0.2.177"
#: How a guest tries to lift its limits.
LIFTING = (
    f"echo -1 > {TOP}/memory/memory.limit_in_bytes",
    f"echo -1 > {TOP}/cpu/cpu.cfs_quota_us",
    f"echo 0-1 > {TOP}/cpuset/cpuset.cpus",
)
LIFTING_UNIFIED = (f"echo max > {TOP}/memory.max", f"echo max > {TOP}/cpu.max", f"echo 0-1 > {TOP}/cpuset.cpus")
#: Seconds within which a console answers.
CONSOLE_LIMIT = 60.0
PARTITIONED = "label: dos\nstart=2048, type=83\n"


class Limits(NamedTuple):
    """Of a container: bytes, microseconds of each tenth of a second, and processors."""

    memory: str
    quota: str
    cpus: str


AS_ASKED = Limits(str(MEMORY << 20), "100000", "0")


def typed(command: Sequence[str], line: bytes, awaited: bytes) -> bytes:
    """What a program says on a terminal on which a line is typed, until it has said that."""
    ours, its = pty.openpty()
    program = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, start_new_session=True)
    os.close(its)
    said, end, again = b"", time.monotonic() + CONSOLE_LIMIT, 0.0
    try:
        while awaited not in said and time.monotonic() < end:
            if time.monotonic() > again:  # what is typed before the console is reached is lost
                os.write(ours, line)
                again = time.monotonic() + 2
            if select.select([ours], [], [], 0.2)[0]:
                said += os.read(ours, 4096)
        return said
    except OSError as error:  # the program has ended
        return said + str(error).encode()
    finally:
        program.kill()
        program.wait()
        os.close(ours)


def shown(*argv: str) -> str:
    """What a command of the machine shows."""
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


class LxcTests(HypervisorContract):
    """Containers of a small system, each of its own disk."""

    timeout = 120
    shown_with = "containers of a small system"
    skip = why_not()
    node: LxcNode
    driver: LxcHypervisor

    async def prepare(self) -> None:
        """See `HypervisorContract`."""
        self.node = LxcNode()
        self.addCleanup(self.node.clear)

    def new_driver(self) -> LxcHypervisor:
        """See `HypervisorContract`."""
        return self.node.driver()

    def remains(self) -> list[str]:
        """See `HypervisorContract`."""
        return self.node.remains()

    def disks(self) -> list[AttachedDisk]:
        """See `HypervisorContract`."""
        return [self.attached(self.node.make_disk())]

    def attached(self, path: Path) -> AttachedDisk:
        """A disk that is ready."""
        spec = DiskSpec(uuid="d0", dev_type="file", size=8, logical_id=["loop", str(path)], index=0)
        return AttachedDisk(spec, str(path))

    def spec(self, name: str = "", **hvparams: Any) -> InstanceSpec:
        """See `HypervisorContract`."""
        filled = {**msgspec.to_builtins(LxcParams()), **hvparams}
        return msgspec.structs.replace(super().spec(name), hypervisor="lxc", hvparams=filled)

    async def pid(self) -> int:
        """The first process of the container."""
        info = await self.driver.info(self.name)
        assert info is not None
        return info.hv_id

    async def inside(self, *words: str) -> str:
        """What a program says in the container."""
        layout = container_layout(self.node.paths, self.name)
        argv = ["lxc-attach", "-P", str(layout.above), "-n", self.name, "--", "/bin/busybox", *words]
        done = await deferToThread(subprocess.run, argv, capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return str(done.stdout)

    async def limits(self) -> Limits:
        """What the control group has that is above the one that the container sees, whichever version the node has."""
        groups = [line.split(":", 2)[1:] for line in Path(f"/proc/{await self.pid()}/cgroup").read_text().splitlines()]
        above = {each: str(Path(path).parent) for names, path in groups for each in names.split(",")}

        def said(controller: str, name: str) -> str:
            return Path(f"{TOP}/{controller}{above[controller]}/{name}").read_text().split()[0]

        if CONTROLLERS.exists():
            return Limits(said("", "memory.max"), said("", "cpu.max"), said("", "cpuset.cpus.effective"))
        return Limits(
            said("memory", "memory.limit_in_bytes"), said("cpu", "cpu.cfs_quota_us"), said("cpuset", "cpuset.cpus")
        )

    async def fails(self, *said: str, disks: list[AttachedDisk] | None = None, **hvparams: Any) -> None:
        """A start fails with one line that names the instance and says all this, and leaves nothing."""
        found = self.disks() if disks is None else disks
        text = await self.refused(self.driver.start(self.spec(**hvparams), found))
        for each in (self.name, *said):
            self.assertIn(each, text)
        self.assertEqual(self.remains(), [])
        self.assertIsNone(await self.driver.info(self.name))

    async def test_inside(self) -> None:
        """It has its name, its terminals, its root, and none of the capabilities that were taken away."""
        await self.start()
        self.assertEqual((await self.inside("hostname")).strip(), self.name)
        await until(lambda: (self.root() / "state").exists())
        self.assertIn("tty6", (await self.inside("ls", "/dev")).split())
        status = Path(f"/proc/{await self.pid()}/status").read_text()
        (bounding,) = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapBnd")]
        for number in (16, 21, 22, 25, 32):  # sys_module, sys_admin, sys_boot, sys_time, mac_override
            self.assertFalse(bounding >> number & 1, number)

    def root(self) -> Path:
        """Where its first disk is mounted."""
        return container_layout(self.node.paths, self.name).root

    async def test_limits(self) -> None:
        """Memory, processors and extra lines are as they were asked for."""
        await self.start(cpu_mask="0", extra_config="lxc.environment = KIND=test,lxc.hook.post-stop = /bin/true")
        self.assertEqual(await self.limits(), AS_ASKED)
        self.assertIn("KIND=test\0", Path(f"/proc/{await self.pid()}/environ").read_text())

    async def test_memory(self) -> None:
        """Who takes more memory than it has is ended."""
        if len(Path("/proc/swaps").read_text().splitlines()) > 1:
            raise SkipTest("this machine swaps, so that more memory is there than the limit says")
        await self.start()
        take = f"busybox dd if=/dev/zero of=/dev/null bs={2 * MEMORY}M count=1; echo ended with $?"
        self.assertIn("ended with 137", await self.inside("sh", "-c", take))

    async def test_devices(self) -> None:
        """It has the devices that the parameter names, and can have no other one."""
        make = "echo > /dev/null && echo written; busybox mknod /made b 7 250 || echo refused"
        await self.start()
        self.assertEqual(await self.inside("sh", "-c", make), "written\nrefused\n")
        await self.driver.stop(self.name, 0.0, force=True)
        await self.start(devices=f"{LxcParams().devices},b 7:250 m")
        self.assertEqual(await self.inside("sh", "-c", make), "written\n")

    async def test_shell_on_console(self) -> None:
        """Who goes to the console types to what runs there, and reads it."""
        spec = self.spec()
        await self.driver.start(spec, [self.attached(self.node.make_disk(WITH_SHELL))])
        command = (await self.driver.console(spec)).command or []
        said = await deferToThread(typed, command, b"echo $((6 * 7))\r", b"42")
        self.assertIn(b"42", said)

    async def test_walls(self) -> None:
        """A guest lifts its own limits in vain, sees no memory of the kernel, and changes nothing of the machine below /proc."""
        await self.start(cpu_mask="0")
        for line in LIFTING_UNIFIED if CONTROLLERS.exists() else LIFTING:
            await self.inside("sh", "-c", f"{line}; :")
        self.assertEqual(await self.limits(), AS_ASKED)
        irq = "/proc/irq/default_smp_affinity"
        self.assertEqual(await self.inside("sh", "-c", f"read v < {irq}; echo $v > {irq} || echo refused"), "refused\n")
        status = Path(f"/proc/{await self.pid()}/status").read_text()
        self.assertIn("Seccomp:\t2\n", status)
        (effective,) = [int(line.split()[1], 16) for line in status.splitlines() if line.startswith("CapEff")]
        for number in (17, 33, 34, 38, 39):  # sys_rawio, mac_admin, syslog, perfmon, bpf
            self.assertFalse(effective >> number & 1, number)

    async def test_power_off(self) -> None:
        """Its first process is asked to end, and has time for it; it need not be cut off."""
        await self.start()
        await until(lambda: (self.root() / "state").exists())
        started = self.node.now()
        await self.driver.stop(self.name, 60.0)
        self.assertLess(self.node.now() - started, 50)
        self.assertEqual(self.remains(), [])

    async def test_ended(self) -> None:
        """One that ended by itself is not there, but its disk is mounted until it is stopped or started again."""
        spec = await self.start()
        for again in (True, False):
            await until(lambda: (self.root() / "state").exists())
            (self.root() / "end").touch()
            while await self.driver.info(self.name) is not None:
                pass
            self.assertEqual((self.driver.kept_names(), self.node.mounted()), ([self.name], [str(self.root())]))
            if again:
                await self.driver.start(spec, self.disks())
        await self.driver.stop(self.name, 0.0)
        self.assertEqual(self.remains(), [])

    async def test_partition(self) -> None:
        """Of a disk with partitions, the first is the root."""
        whole = self.node.top / "whole"
        with whole.open("wb") as file:
            file.truncate((2048 << 9) + (8 << 20))
        subprocess.run(["sfdisk", "-q", str(whole)], input=PARTITIONED, text=True, check=True)
        with whole.open("r+b") as file:
            file.seek(2048 << 9)
            file.write(self.node.make_disk().read_bytes())
        await self.driver.start(self.spec(), [self.attached(whole)])
        await until(lambda: (self.root() / "state").exists())
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])

    async def test_network(self) -> None:
        """Interfaces have their addresses, their other ends are on their bridge and routed to; after the stop nothing is left."""
        subprocess.run(["ip", "link", "add", BRIDGE, "type", "bridge"], check=True)
        self.addCleanup(subprocess.run, ["ip", "link", "delete", BRIDGE], check=True)
        nic = NicSpec(uuid="n0", mac=MAC, mode="bridged", link=BRIDGE)
        routed = msgspec.structs.replace(nic, uuid="n1", mac=MAC[:-1] + "2", mode="routed", link=TABLE, ip=ROUTED)
        spec = msgspec.structs.replace(self.spec(), nics=[nic, routed])
        self.assertIsNone(await self.driver.interface_to(spec, routed))
        await self.driver.start(spec, self.disks())
        self.assertIn(
            f"{ROUTED} dev {await self.driver.interface_to(spec, routed)}", shown("ip", "route", "show", "table", TABLE)
        )
        self.assertIn(f"lookup {TABLE}", shown("ip", "rule"))
        self.assertIn(MAC, await self.inside("ip", "link", "show", "dev", "eth0"))
        ports = list(Path(f"/sys/class/net/{BRIDGE}/brif").iterdir())
        self.assertEqual(len(ports), 1)
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertFalse(Path(f"/sys/class/net/{ports[0].name}").exists())
        self.assertNotIn(f"lookup {TABLE}", shown("ip", "rule"))
        self.assertNotIn(ROUTED, shown("ip", "neigh", "show", "proxy"))
        self.assertEqual(self.remains(), [])

    async def test_not_started(self) -> None:
        """What cannot be started says why, and leaves nothing."""
        await self.fails("needs a disk", disks=[])
        empty = self.node.top / "empty"
        empty.write_bytes(bytes(1 << 20))
        await self.fails("cannot mount", "file system", disks=[self.attached(empty)])
        await self.fails("cannot mount", disks=[self.attached(self.node.top / "missing")])
        await self.fails("init", disks=[self.attached(self.node.make_disk("no program"))])
        await self.fails("cpu_mask", "'0:1' has 2 masks", cpu_mask="0:1")
        await self.fails("devices", "'c 1:3'", devices="c 1:3")
        await self.fails("drop_capabilities", "'CAP_SYS_TIME'", drop_capabilities="CAP_SYS_TIME")
        await self.fails("extra_config", "'rm -rf'", extra_config="rm -rf")
        await self.fails("extra_config", extra_config="lxc.arch\n = x86_64")
        await self.fails("nonsense", extra_cgroups="nonsense")
        await self.fails("num_ttys: -1 is not between", num_ttys=-1)

    async def test_no_bridge(self) -> None:
        """An interface that cannot be connected is refused before anything is done."""
        nic = NicSpec(uuid="n0", mac=MAC, mode="bridged", link="nobridge0")
        spec = msgspec.structs.replace(self.spec(), nics=[nic])
        self.assertIn("nobridge0", await self.refused(self.driver.start(spec, self.disks())))
        self.assertEqual(self.remains(), [])

    async def test_console_command(self) -> None:
        """The console is a program on the node; without terminals there is none."""
        console = await self.driver.console(self.spec())
        self.assertEqual((console.command or [])[:1], ["lxc-console"])
        none = await self.driver.console(self.spec(num_ttys=0))
        self.assertEqual(none.kind, "msg")

    async def test_taken_place(self) -> None:
        """Nothing is started, or removed, where others could have put links."""
        await self.start()
        above = self.root().parent.parent
        above.chmod(0o770)
        self.assertIn(f"{above} is not used", await self.refused(self.driver.stop(self.name, 0.0, force=True)))
        self.assertIn(f"{above} is not used", await self.refused(self.start("new1.example.com")))
        above.chmod(0o750)
        await self.driver.stop(self.name, 0.0, force=True)
        self.assertEqual(self.remains(), [])
