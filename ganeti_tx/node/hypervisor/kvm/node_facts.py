"""What this node has for machines of QEMU."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ganeti_tx.model.hypervisors.kvm import DEFAULT_PROGRAM, find_program, no_program
from ganeti_tx.node.hypervisor.host import read_host_facts
from ganeti_tx.node.hypervisor.kvm.ended_tpms import EndedTpms
from ganeti_tx.node.hypervisor.kvm.version import QemuVersion
from ganeti_tx.runtime.files import IFiles


@frozen
class NodeFacts:
    """Memory, processors and the program; of machines that run only what nobody else would tell."""

    files: IFiles
    version: QemuVersion
    tpms: EndedTpms

    async def info(self) -> Mapping[str, Any]:
        """See `IHypervisor.node_info`."""
        return read_host_facts(self.files).as_hv_info(await self.version.told())

    async def verify(self) -> list[str]:
        """See `IHypervisor`."""
        program = find_program(DEFAULT_PROGRAM, self.files.exists)
        if program is None:
            return [no_program(DEFAULT_PROGRAM)]
        if not await self.version.told():
            return [f"{program} does not run"]
        return self.tpms.faults()
