"""One call on many nodes."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

from twisted.internet.defer import Deferred, gatherResults

from ganeti_tx.rpc.interfaces import Outcome, RpcError, Target

R = TypeVar("R")


async def on_each(nodes: Iterable[Target], call: Callable[[Target], Awaitable[R]]) -> Mapping[str, Outcome[R]]:
    """The outcome of a call by node, once all are known; they go on side by side."""
    named = {node.name: node for node in nodes}
    running = [Deferred.fromCoroutine(outcome_of(call, node)) for node in named.values()]
    return dict(zip(named, await gatherResults(running, consumeErrors=True), strict=True))


async def outcome_of(call: Callable[[Target], Awaitable[R]], node: Target) -> Outcome[R]:
    """What one node gave, or why not."""
    try:
        return Outcome(value=await call(node))
    except RpcError as error:
        return Outcome(error=error)
