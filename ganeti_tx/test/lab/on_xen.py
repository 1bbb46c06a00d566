"""Run on a machine under Xen, with its own xl: both hypervisors keep the contract there, too."""

import time
from pathlib import Path
from shutil import copy
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any, ClassVar

import msgspec
from twisted.internet import reactor

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.xen.assembled import assembled
from ganeti_tx.node.hypervisor.xen.hvm import FullyVirtual
from ganeti_tx.node.hypervisor.xen.hypervisor import XenHypervisor
from ganeti_tx.node.hypervisor.xen.kind import XenKind
from ganeti_tx.node.hypervisor.xen.pvm import Paravirtual
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.hypervisor import HypervisorContract
from ganeti_tx.test.contracts.hypervisor_page import BALLOON
from ganeti_tx.test.lab.xen_image import GUEST_INITRD, GUEST_KERNEL, SECTOR
from ganeti_tx.test.node.hypervisor.kvm.parts import attached
from ganeti_tx.test.node.hypervisor.xen.parts import SHOWN_WITH, xen_spec

#: MiB that a guest gives back.
LESS = 16
#: Of displays.
FIRST_PORT = 11000
#: Seconds for what a program says of a domain.
LIMIT = 60.0


def parts(paths: Paths) -> Any:
    """What a driver of this machine is made from."""
    threads, runner = InlineThreads(), ReactorProcessRunner(reactor, reactor)
    return SimpleNamespace(
        paths=paths,
        files=RealFiles(threads),
        threads=threads,
        runner=runner,
        clock=reactor,
        reactor=reactor,
        now=time.time,
    )


class RealXenTests(HypervisorContract):
    """Paravirtualised instances without disks."""

    kind: ClassVar[XenKind] = Paravirtual()
    guest: ClassVar[dict[str, Any]] = {
        "kernel_path": GUEST_KERNEL,
        "initrd_path": GUEST_INITRD,
        "root_path": "",
        "kernel_args": "console=hvc0 quiet",
    }
    memory = 128
    balloons = True
    shown_with = SHOWN_WITH
    driver: XenHypervisor

    async def prepare(self) -> None:
        """See `HypervisorContract`."""
        self.parts = parts(Paths(Path(mkdtemp())))

    async def tearDown(self) -> None:  # type: ignore[override]  # trial waits for what it returns
        for name in self.driver.kept_names():
            await self.driver.stop(name, 0.0, force=True)
        self.assertEqual(self.remains(), [])

    def new_driver(self) -> XenHypervisor:
        """See `HypervisorContract`."""
        return assembled(self.parts, self.kind)

    def remains(self) -> list[str]:
        """See `HypervisorContract`."""
        return sorted(str(path) for path in self.parts.paths.root.rglob("*") if path.is_file())

    def spec(self, name: str = "", **hvparams: Any) -> InstanceSpec:
        """See `HypervisorContract`."""
        return xen_spec(self.kind, name or self.name, self.memory, **{**self.guest, **hvparams})

    async def said(self, *argv: str) -> list[list[str]]:
        """The words of each line that a program says, which succeeds."""
        result = await self.parts.runner.run(list(argv), timeout=LIMIT)
        self.assertTrue(result.succeeded, result.describe())
        return [line.split() for line in result.stdout.decode().splitlines()]

    async def test_processors(self) -> None:
        """Xen itself tells of the weight, the limit, and the node's processor to which the guest's is bound."""
        await self.start(cpu_weight=300, cpu_cap=40, cpu_mask="1")
        info = await self.driver.info(self.name)
        assert info is not None
        weight = (await self.said("xl", "sched-credit2", "-d", self.name))[-1]
        self.assertEqual(weight, [self.name, str(info.hv_id), "300", "40"])
        bound = (await self.said("xl", "vcpu-list", self.name))[-1]
        self.assertEqual((bound[3], bound[6:]), ("1", ["1", "/", "all"]))

    async def test_balloon(self) -> None:
        """A guest with the driver gives memory back, and gets it again; one without is told of."""
        await self.start()
        less = self.memory - LESS
        if not self.balloons:
            self.assertIn(f"does not come to have {less} MiB", await self.refused(self.driver.balloon(self.name, less)))
            return
        for memory in (less, self.memory):
            await self.driver.balloon(self.name, memory)
            info = await self.driver.info(self.name)
            assert info is not None
            self.assertEqual(info.memory, memory)
        self.done(BALLOON)


class FullyVirtualTests(RealXenTests):
    """xen-hvm, with a guest of one sector, which the firmware boots from a disk; its emulator knows no passwords of displays."""

    kind = FullyVirtual()
    guest: ClassVar[dict[str, Any]] = {
        "boot_order": "c",
        "vnc_bind_address": "127.0.0.1",
        "vnc_password_file": "",
    }
    memory = 64
    balloons = False

    def disks(self) -> list[AttachedDisk]:
        """A disk of its own for each start: Xen gives none to two domains."""
        return [attached(0, path=copy(SECTOR, mkdtemp()))]

    def spec(self, name: str = "", **hvparams: Any) -> InstanceSpec:
        """With a display's port of its own, as a cluster gives each instance one."""
        made = super().spec(name, **hvparams)
        self.ports.setdefault(made.name, FIRST_PORT + len(self.ports))
        return msgspec.structs.replace(made, network_port=self.ports[made.name])

    async def prepare(self) -> None:
        """See `HypervisorContract`."""
        await super().prepare()
        self.ports: dict[str, int] = {}

    def cdrom(self) -> dict[str, Any]:
        """See `HypervisorContract`."""
        return {"cdrom_image_path": SECTOR, "boot_order": "dc"}

    async def test_display(self) -> None:
        """The display answers at the instance's port."""
        spec = await self.start()
        listening = await self.said("ss", "-Hltn", f"sport = :{spec.network_port}")
        self.assertEqual([line[3] for line in listening], [f"127.0.0.1:{spec.network_port}"])

    async def test_devices(self) -> None:
        """xl reads the addresses of PCI devices; there are none to give a guest on these machines, which it says."""
        said = await self.refused(self.start(pci_pass="0000:03:00.0"))
        self.assertIn("passthrough not supported on this platform", said)
        self.assertEqual(self.remains(), [])
