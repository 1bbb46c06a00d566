"""Telling machines that run that their disks have grown."""

from collections.abc import Mapping

from attrs import define

from ganeti_tx.node.answers import answers
from ganeti_tx.node.hypervisor.interfaces import IDiskGrowth, IHypervisor
from ganeti_tx.rpc.calls.disk import BlockdevGrown


@define
class GrownDisks:
    """The hypervisors of this node; those that cannot tell their guests have nothing to do."""

    hypervisors: Mapping[str, IHypervisor]

    @answers(BlockdevGrown)
    async def tell(self, call: BlockdevGrown) -> bool:
        """Whether a guest was told."""
        hypervisor = self.hypervisors.get(call.hypervisor)
        if hypervisor is None or not IDiskGrowth.providedBy(hypervisor):
            return False
        told: bool = await IDiskGrowth(hypervisor).disk_has_grown(call.owner, call.disk)
        return told
