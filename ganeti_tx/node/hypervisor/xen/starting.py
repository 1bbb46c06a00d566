"""How domains come to run: planned, written down, made by xl; what fails leaves nothing."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.node.hypervisor.interfaces import AttachedDisk
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.xen.domain_files import DomainFiles
from ganeti_tx.node.hypervisor.xen.emulator import LOST, last_word
from ganeti_tx.node.hypervisor.xen.ending import DomainEnding
from ganeti_tx.node.hypervisor.xen.layout import DomainLayout
from ganeti_tx.node.hypervisor.xen.own import OwnDomains
from ganeti_tx.node.hypervisor.xen.planning import DomainPlanning
from ganeti_tx.node.hypervisor.xen.record import load_move
from ganeti_tx.runtime.files import IFiles


@frozen
class DomainStarting:
    """Of instances that begin anew here."""

    files: IFiles
    own: OwnDomains
    planning: DomainPlanning
    written: DomainFiles
    ending: DomainEnding

    async def start(self, instance: InstanceSpec, disks: Sequence[AttachedDisk], paused: bool = False) -> None:
        """See `IHypervisor`."""
        layout = self.own.layout(instance.name)
        await self._make_way(layout)
        with naming(instance.name):
            guest = await self.planning.plan(instance, disks)
            started = False
            try:
                await self.written.write(layout, guest)
                await self._create(layout, paused)
                started = True
            finally:
                if not started:
                    await self.ending.end(layout)

    async def _make_way(self, layout: DomainLayout) -> None:
        """Leave nothing of what has ended by itself. @raise HypervisorError: it runs, or somebody else's domain has its name."""
        if await self.own.living(layout) is not None:
            raise HypervisorError(f"instance {layout.name} runs already")
        if load_move(self.files, layout) is not None:
            raise HypervisorError(
                f"a migration has left something of instance {layout.name} here; 'gnt-instance migrate --cleanup' finds out"
            )
        await self.ending.stop(layout.name, 0.0, True)
        await self.own.check_free(layout.name)

    async def _create(self, layout: DomainLayout, paused: bool) -> None:
        """@raise HypervisorError: there is no domain, and why not."""
        try:
            await self.own.xl.create(layout.config, paused)
        except HypervisorError as error:
            if LOST in str(error):
                raise HypervisorError(f"{error}; {last_word(self.files, layout.emulator_log)}") from None
            raise
