"""What this node has for containers."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ganeti_tx.errors import HypervisorError
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.node.hypervisor.lxc.containers import Containers
from ganeti_tx.node.hypervisor.root_disk import RootDisks
from ganeti_tx.runtime.files import IFiles


@frozen
class LxcFacts:
    """Memory, processors and programs."""

    files: IFiles
    containers: Containers
    disks: RootDisks

    async def info(self) -> Mapping[str, Any]:
        """See `IHypervisor.node_info`."""
        return read_host_facts(self.files).as_hv_info(await self.containers.version())

    async def verify(self) -> list[str]:
        """See `IHypervisor`."""
        missing = await self.disks.missing()
        try:
            await self.containers.version()
        except HypervisorError as error:
            return [str(error), *missing]
        return missing
