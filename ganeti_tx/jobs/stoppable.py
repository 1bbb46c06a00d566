"""The nodes and the configuration as a unit sees them: it can be stopped before each thing that it does to them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.config.operation import Effect, Operation
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.interfaces import INodeRpc, Outcome, R, Target

T = TypeVar("T")


@implementer(INodeRpc)
@frozen
class StoppableNodes:
    """Node calls with a safe point before each."""

    _nodes: INodeRpc
    _points: SafePoints

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        return await self._do(f"{call.name} on {node.name}", call, lambda: self._nodes.call(node, call, timeout))

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        targets = list(nodes)
        where = ", ".join(node.name for node in targets[:3]) + (" and others" if len(targets) > 3 else "")
        return await self._do(f"{call.name} on {where}", call, lambda: self._nodes.call_many(targets, call, timeout))

    async def _do(self, what: str, call: NodeCall[object], make: Callable[[], Awaitable[T]]) -> T:
        self._points.reach(what)
        if call.abandonable:
            return await self._points.wait(what, make())
        try:
            return await make()
        finally:
            self._points.record(what)  # one that failed may have done something, too


@frozen
class StoppableConfig(IConfig):
    """The configuration with a safe point before each change."""

    _config: IConfig
    _points: SafePoints

    async def perform(self, operation: Operation[..., T], arguments: tuple[Any, ...]) -> T:
        """As Operations says; what is only reserved goes back by itself, so that nobody need be told of it."""
        what = f"{operation.attribute} in the configuration"
        if operation.effect in (Effect.CHANGED, Effect.RESERVED):
            self._points.reach(what)
        result = await self._config.perform(operation, arguments)
        if operation.effect is Effect.CHANGED:
            self._points.record(what)
            self._points.config_changed = True
        return result
