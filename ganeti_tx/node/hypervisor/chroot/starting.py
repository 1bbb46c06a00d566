"""How instances in a chroot come to run: a root is mounted, its script starts what runs in it; what fails leaves nothing."""

from collections.abc import Sequence

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.chroot.ending import ChrootEnding
from ganeti_tx.node.hypervisor.chroot.init_script import InitScripts
from ganeti_tx.node.hypervisor.chroot.layout import ChrootLayout
from ganeti_tx.node.hypervisor.chroot.own import OwnChroots
from ganeti_tx.node.hypervisor.chroot.parameters import init_script_of
from ganeti_tx.node.hypervisor.chroot.processes import Inhabitants
from ganeti_tx.node.hypervisor.chroot.record import ChrootRecord, record_of
from ganeti_tx.node.hypervisor.chroot.roots import Roots
from ganeti_tx.node.hypervisor.instance_record import save
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.live import not_running
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.runtime.files import IFiles

DIRECTORY_MODE = 0o750
#: Seconds within which what was started is to be up, as its script sees it.
UP_LIMIT = 10.0
PAUSE = 0.1
#: Seconds that an instance has to go down before it is started again.
REBOOT_LIMIT = 30.0


@frozen
class ChrootStarting:
    """Of instances that begin here, or begin anew."""

    files: IFiles
    clock: IReactorTime
    scripts: InitScripts
    processes: Inhabitants
    own: OwnChroots
    roots: Roots
    ending: ChrootEnding

    async def reboot(self, instance: InstanceSpec, disks: Sequence[AttachedDisk]) -> str | None:
        """See `IHypervisor`; its script stops it first, as there is no machine with a reset button."""
        if await self.own.info(instance.name) is None:
            raise not_running(instance.name)
        said = await self.ending.stop(instance.name, REBOOT_LIMIT)
        await self.start(instance, disks, paused=False)
        return said

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool) -> None:
        """See `IHypervisor`."""
        layout = self.own.layout(instance.name)
        await self._make_way(layout)
        with naming(instance.name):
            if paused:
                raise HypervisorError("a script starts all that is in a chroot at once, it cannot be started paused")
            record = record_of(instance, init_script_of(instance.hvparams))
            self.roots.check(layout, len(disks))
            await self._bring_up(layout, record, disks)

    async def check(self, instance: InstanceSpec) -> None:
        """See `IChecksStart`."""
        layout = self.own.layout(instance.name)
        with naming(instance.name):
            self.roots.check(layout, len(instance.disks))

    async def _make_way(self, layout: ChrootLayout) -> None:
        """Leave nothing of what has ended by itself. @raise HypervisorError: it runs."""
        if self.files.exists(layout.directory):
            if await self.own.info(layout.name) is not None:
                raise HypervisorError(f"instance {layout.name} runs already")
            await self.ending.stop(layout.name, 0.0, force=True)

    async def _bring_up(self, layout: ChrootLayout, record: ChrootRecord, disks: Sequence[AttachedDisk]) -> None:
        up = False
        try:
            for directory in (layout.above, layout.log.parent):
                self.files.mkdir(directory, DIRECTORY_MODE)
            layout.check_own(self.files)
            for directory in (layout.directory, layout.root):
                self.files.mkdir(directory, DIRECTORY_MODE)
            await save(self.files, layout.record, record)
            await self.roots.mount(layout, disks)
            said_before = self.scripts.length(layout)
            await self.scripts.start(layout, record)
            await self._see_it_up(layout, record, said_before)
            up = True
        finally:
            if not up:
                await self.ending.end(layout, force=True)

    async def _see_it_up(self, layout: ChrootLayout, record: ChrootRecord, said_before: int) -> None:
        if not await self.processes.of(layout.root):
            said = self.scripts.said_since(layout, said_before)
            raise HypervisorError(f"'{record.init_script} start' has ended well, but left no process running{said}")
        deadline = self.clock.seconds() + UP_LIMIT
        while not await self.scripts.runs(layout, record):
            if self.clock.seconds() > deadline:
                raise HypervisorError(
                    f"'{record.init_script} status' says {UP_LIMIT:.0f} seconds after the start that it does not run"
                    f"{self.scripts.said_since(layout, said_before)}"
                )
            await deferLater(self.clock, PAUSE)
