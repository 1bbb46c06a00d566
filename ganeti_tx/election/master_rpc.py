"""Node calls that notice when a node refuses them because it follows another master."""

from collections.abc import Callable, Iterable, Mapping

import attrs
from zope.interface import implementer

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, Outcome, R, RpcError, Target
from ganeti_tx.rpc.refusals import AnotherIsMaster


@implementer(INodeRpc)
@attrs.frozen
class MasterRpc:
    """Passes every call on; `refused` hears of each that a node refused for that reason."""

    rpc: INodeRpc
    refused: Callable[[str], None]

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """See INodeRpc."""
        try:
            return await self.rpc.call(node, call, timeout)
        except RpcError as error:
            self._look(error)
            raise

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """See INodeRpc."""
        outcomes = await self.rpc.call_many(nodes, call, timeout)
        for outcome in outcomes.values():
            self._look(outcome.error)
        return outcomes

    def _look(self, error: RpcError | None) -> None:
        if isinstance(error, NodeCallError) and isinstance(error.cause, AnotherIsMaster):
            self.refused(str(error))
