"""Holds what a unit does against what it planned: each action inside a step, on a node that the step names."""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen
from zope.interface import implementer

from ganeti_tx.config.interfaces import IConfig, Operation
from ganeti_tx.config.operation import Effect
from ganeti_tx.logic.steps import Steps
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.rpc.calls.base import NodeCall, Question
from ganeti_tx.rpc.interfaces import INodeRpc, Outcome, R, Target

#: Only the master may send them, as they run a program, but they change nothing: an allocator is asked while checking.
ASKED = (IallocatorRunner,)


class NotPlanned(AssertionError):
    """A unit did what its plan does not tell of."""


def check_deed(steps: Steps, what: str, nodes: Iterable[str] = ()) -> None:
    """@raise NotPlanned: no step is under way, or it is on other nodes."""
    if steps.safe_points.shielded:  # what takes back was written down by a step
        return
    if steps.current is None:
        raise NotPlanned(f"{what} is in none of the steps {[step.title for step in steps.plan]}")
    if strange := set(nodes) - set(steps.current.nodes):
        raise NotPlanned(f"{what} is done on {sorted(strange)} in the step {steps.current}")


@implementer(INodeRpc)
@frozen
class PlannedNodes:
    """Nodes that are asked what they are asked, and told nothing outside of a step."""

    inner: INodeRpc
    steps: Steps

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        self._check(call, [node])
        return await self.inner.call(node, call, timeout)

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        targets = list(nodes)
        self._check(call, targets)
        return await self.inner.call_many(targets, call, timeout)

    def _check(self, call: NodeCall[Any], targets: Iterable[Target]) -> None:
        if not isinstance(call, (Question, *ASKED)) and not call.abandonable:
            check_deed(self.steps, call.name, [node.name for node in targets])


@frozen
class PlannedConfig(IConfig):
    """A configuration that is changed in steps only."""

    inner: IConfig
    steps: Steps

    async def perform(self, operation: Operation[..., Any], arguments: tuple[Any, ...]) -> Any:
        """As Operations says."""
        if operation.effect is Effect.CHANGED:
            check_deed(self.steps, operation.attribute)
        return await self.inner.perform(operation, arguments)
