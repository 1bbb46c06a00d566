"""Node calls whose answers are timed and whose failures are counted."""

from collections.abc import Iterable, Mapping

import attrs
from twisted.internet.defer import CancelledError
from twisted.internet.interfaces import IReactorTime
from zope.interface import implementer

from ganeti_tx.metrics.nodes import CALLS, FAILURES
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.each_node import on_each
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, NodeOfflineError, Outcome, R, RpcError, Target


@implementer(INodeRpc)
@attrs.frozen
class MeasuredRpc:
    """Passes every call on; a call on many nodes is timed for each."""

    rpc: INodeRpc
    tally: Tally
    clock: IReactorTime

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        begun = self.clock.seconds()
        try:
            result = await self.rpc.call(node, call, timeout)
        except NodeOfflineError:
            raise  # nothing was sent
        except NodeCallError:
            self._answered(node, call, begun)
            self.tally.count(FAILURES, node.name, call.name, "failed")
            raise
        except RpcError:
            self.tally.count(FAILURES, node.name, call.name, "unreachable")
            raise
        except CancelledError:
            self.tally.count(FAILURES, node.name, call.name, "given up")
            raise
        self._answered(node, call, begun)
        return result

    def _answered(self, node: Target, call: NodeCall[object], begun: float) -> None:
        self.tally.observe(CALLS, self.clock.seconds() - begun, node.name, call.name)

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        return await on_each(nodes, lambda node: self.call(node, call, timeout))
