"""Node calls that say from which master they come, and when."""

from collections.abc import Iterable, Mapping

from attrs import define
from msgspec import structs
from zope.interface import implementer

from ganeti_tx.mastership.term import Stamps
from ganeti_tx.rpc.calls.base import NodeCall, Sender
from ganeti_tx.rpc.interfaces import INodeRpc, Outcome, R, Target


@implementer(INodeRpc)
@define
class StampedRpc:
    """Stamps the calls that only a master may send, unless they are stamped already."""

    rpc: INodeRpc
    stamps: Stamps

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        return await self.rpc.call(node, self._stamped(call), timeout)

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        return await self.rpc.call_many(nodes, self._stamped(call), timeout)

    def _stamped(self, call: NodeCall[R]) -> NodeCall[R]:
        if call.sender is not Sender.MASTER or call.stamp is not None:
            return call
        return structs.replace(call, stamp=self.stamps.next())
