"""Node calls with disks of a format, which an older node daemon would take for raw ones: it leaves out what it does not know."""

from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen
from msgspec import structs
from zope.interface import implementer

from ganeti_tx.model.disk_template import RAW
from ganeti_tx.model.instance_spec import DiskSpec, InstanceSpec
from ganeti_tx.model.versions import DISK_FORMATS_SINCE
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import BlockdevRemove, BlockdevShutdown
from ganeti_tx.rpc.calls.instance import InstanceShutdown
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.each_node import on_each
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, Outcome, R, Target

#: What does not read a disk, so that every version does it rightly: it may end what should not have begun.
LETS_GO = (BlockdevRemove, BlockdevShutdown, InstanceShutdown)


@implementer(INodeRpc)
@frozen
class UnderstoodRpc:
    """Asks a node which protocol it speaks before it is told of such a disk, and sends an older one nothing of it."""

    rpc: INodeRpc

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        if not node.offline and not isinstance(call, LETS_GO) and (formats := formats_in(call)):
            await self._check(node, call.name, formats)
        return await self.rpc.call(node, call, timeout)

    async def _check(self, node: Target, name: str, formats: Iterable[str]) -> None:
        if await self.rpc.call(node, Version()) < DISK_FORMATS_SINCE:
            raise NodeCallError(
                f"{name} was not sent to node {node.name}, which runs an older version that takes disks of format"
                f" {', '.join(formats)} for raw ones: install the same version on all nodes"
            )

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        return await on_each(nodes, lambda node: self.call(node, call, timeout))


def formats_in(call: NodeCall[object]) -> list[str]:
    """Of the disks that it tells of, those that not every version knows."""
    return sorted({disk.format for disk in disks_in(structs.astuple(call))} - {RAW})


def disks_in(values: Iterable[object]) -> Iterator[DiskSpec]:
    """Those among some values, and those of the instances among them."""
    for value in values:
        if isinstance(value, DiskSpec):
            yield value
        elif isinstance(value, InstanceSpec):
            yield from value.disks
        elif isinstance(value, list):
            yield from disks_in(value)
