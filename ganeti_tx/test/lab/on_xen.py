"""Run on a machine under Xen, with its own xl: the hypervisor keeps the contract there, too."""

import time
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any

from twisted.internet import reactor

from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.xen.assembled import assembled
from ganeti_tx.node.hypervisor.xen.migrating import MigratingXen
from ganeti_tx.node.hypervisor.xen.pvm import Paravirtual
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.contracts.hypervisor import HypervisorContract
from ganeti_tx.test.lab.xen_image import GUEST_INITRD, GUEST_KERNEL
from ganeti_tx.test.node.hypervisor.xen.parts import xen_spec


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

    memory = 128
    driver: MigratingXen

    async def prepare(self) -> None:
        """See `HypervisorContract`."""
        self.parts = parts(Paths(Path(mkdtemp())))

    async def tearDown(self) -> None:  # type: ignore[override]  # trial waits for what it returns
        for name in self.driver.kept_names():
            await self.driver.stop(name, 0.0, force=True)
        self.assertEqual(self.remains(), [])

    def new_driver(self) -> MigratingXen:
        """See `HypervisorContract`."""
        return assembled(self.parts, Paravirtual())

    def remains(self) -> list[str]:
        """See `HypervisorContract`."""
        return sorted(str(path) for path in self.parts.paths.root.rglob("*") if path.is_file())

    def spec(self, name: str = "", **hvparams: Any) -> InstanceSpec:
        """See `HypervisorContract`."""
        guest = {
            "kernel_path": GUEST_KERNEL,
            "initrd_path": GUEST_INITRD,
            "root_path": "",
            "kernel_args": "console=hvc0 quiet",
        }
        return xen_spec(Paravirtual(), name or self.name, self.memory, **{**guest, **hvparams})
