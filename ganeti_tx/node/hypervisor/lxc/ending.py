"""How containers end, and what is removed then."""

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.lxc.containers import Containers
from ganeti_tx.node.hypervisor.lxc.layout import ContainerLayout
from ganeti_tx.node.hypervisor.lxc.network import Veths
from ganeti_tx.node.hypervisor.lxc.own import OwnContainers
from ganeti_tx.node.hypervisor.names import naming
from ganeti_tx.node.hypervisor.root_disk import RootDisks
from ganeti_tx.runtime.files import IFiles


@frozen
class ContainerEnding:
    """Ends them."""

    files: IFiles
    containers: Containers
    own: OwnContainers
    disks: RootDisks
    veths: Veths

    async def stop(self, instance_name: str, timeout: float, force: bool) -> None:
        """Ask its first process, wait for it, cut it off, clear away; each as far as there is something to do."""
        layout = self.own.layout(instance_name)
        if not self.files.exists(layout.directory):
            return
        with naming(instance_name):
            if not force and await self.containers.look(layout) is not None:
                await self.containers.power_off(layout, timeout)
            if await self.containers.look(layout) is not None:
                await self.containers.kill(layout)
                if await self.containers.look(layout) is not None:
                    raise HypervisorError("it runs on, though everything in it was ended")
            await self.clear(layout)

    async def end(self, layout: ContainerLayout) -> None:
        """Leave nothing of one that did not come to run."""
        layout.check_own(self.files)  # LXC runs what a configuration says, also when it ends a container
        await self.containers.kill(layout)
        await self.clear(layout)

    async def clear(self, layout: ContainerLayout) -> None:
        """Leave nothing of one that does not run. @raise HypervisorError: something is left."""
        layout.check_own(self.files)
        if (record := self.own.record(layout)) is not None:
            await self.veths.release(record.veths)
        await self.disks.clear(self.files, layout.root, layout.directory)
