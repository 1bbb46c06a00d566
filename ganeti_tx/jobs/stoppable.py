"""The nodes and the configuration as a unit sees them: it can be stopped before each thing that it does to them."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.config.interfaces import IConfig, IConfigReader
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.node import TestDelay
from ganeti_tx.rpc.interfaces import INodeRpc, Outcome, R, Target

T = TypeVar("T")

#: Calls that change nothing on the node and may take long: they are given up in their midst.
ABANDONABLE = (TestDelay,)
#: What the configuration does that is no step of a unit's work: waiting for copies, telling who lacks them, and giving back
#: at the end.
NO_STEPS = frozenset({"when_distributed", "undistributed", "drop_reservations"})
#: What is only reserved goes back by itself, so that nobody need be told of it.
RESERVING = ("generate_", "reserve_", "allocate_")
#: Names of the methods that change the configuration or reserve something in it.
CHANGES = frozenset(IConfig.names()) - frozenset(IConfigReader.names(all=True)) - NO_STEPS


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
        if isinstance(call, ABANDONABLE):
            return await self._points.wait(what, make())
        try:
            return await make()
        finally:
            self._points.record(what)  # one that failed may have done something, too


def stoppable_config(config: IConfig, points: SafePoints) -> IConfig:
    """The configuration with a safe point before each change."""
    return cast(IConfig, _StoppableConfig(config, points))


class _StoppableConfig:
    """Passes everything on; the interface has too many methods to write each down twice."""

    def __init__(self, config: IConfig, points: SafePoints) -> None:
        self._config = config
        self._points = points

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._config, name)
        if name not in CHANGES:
            return method
        what = f"{name} in the configuration"

        async def change(*args: Any, **kwargs: Any) -> Any:
            self._points.reach(what)
            result = await method(*args, **kwargs)
            if not name.startswith(RESERVING):
                self._points.record(what)
            return result

        return change
