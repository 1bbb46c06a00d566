"""Node calls of queries: nodes that take much longer than the others, or say nothing, are not waited for."""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.each_node import outcome_of
from ganeti_tx.rpc.interfaces import PROMPT, INodeRpc, NodeUnreachableError, Outcome, R, Target

#: Once as many have answered as are still waited for, these have so many seconds, or so many times what the others took.
LEAST, TIMES = 4.0, 3.0
#: Once so many have answered for each that is still waited for, these are the seconds: among few, one may just be busy.
NEARLY_ALL, LEAST_OF_LAST = 15, 0.5
#: Seconds for what has come in while this process was held up.
LAST_LOOK = 0.05


@implementer(INodeRpc)
@define
class PromptRpc:
    """Gives what comes in time; who waits no longer stops no call."""

    rpc: INodeRpc
    clock: IReactorTime

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says, sooner."""
        outcomes: Mapping[str, Outcome[R]] = await self.call_many([node], call, timeout)
        return outcomes[node.name].get()

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says, sooner."""
        return await Round(self.clock, call, PROMPT if timeout is None else timeout).outcomes(self.rpc, nodes)


@define(eq=False)
class Round:
    """One call on some nodes. An error of a node says nothing of how long an answer takes."""

    clock: IReactorTime
    call: NodeCall[Any]
    limit: float
    _begun: float = field(init=False)
    _waiting: "dict[str, Deferred[Any]]" = field(factory=dict, init=False)
    _outcomes: dict[str, Outcome[Any]] = field(factory=dict, init=False)
    _answers: int = field(default=0, init=False)
    #: Seconds that half of them took.
    _taken: float | None = field(default=None, init=False)
    _is_last: bool = field(default=False, init=False)
    _done: "Deferred[None]" = field(factory=Deferred, init=False)
    _timer: IDelayedCall | None = field(default=None, init=False)

    async def outcomes(self, rpc: INodeRpc, nodes: Iterable[Target]) -> Mapping[str, Outcome[Any]]:
        """By node, in their order."""
        asked = list(nodes)
        self._begun = self.clock.seconds()
        self._waiting = {
            node.name: Deferred.fromCoroutine(outcome_of(lambda node: rpc.call(node, self.call, self.limit), node))
            for node in asked
        }
        for name, outcome in list(self._waiting.items()):
            outcome.addCallback(self._came, name).addErrback(self._failed)  # the latter also hears of those given up
        try:
            if self._waiting:
                self._wait_until(self.limit)
                self._look()
                await self._done
        finally:
            self._end()
        return {node.name: self._outcomes[node.name] for node in asked}

    def _came(self, outcome: Outcome[Any], name: str) -> None:
        del self._waiting[name]
        self._outcomes[name] = outcome
        self._answers += outcome.error is None
        if self._waiting:
            self._look()
        elif not self._done.called:
            self._done.callback(None)

    def _failed(self, failure: Failure) -> None:
        if not self._done.called:
            self._done.errback(failure)

    def _look(self) -> None:
        """Hurry once half of them are there, and once more for the last: a slow one gives the others no more time."""
        if self._timer is None or self._answers < len(self._waiting):
            return
        if self._taken is None:
            self._taken = self.clock.seconds() - self._begun
            self._wait_until(self._end_of(LEAST))
        if not self._is_last and self._answers >= NEARLY_ALL * len(self._waiting):
            self._is_last = True
            self._wait_until(self._end_of(LEAST_OF_LAST))

    def _end_of(self, least: float) -> float:
        assert self._taken is not None, "half of them have answered"
        return min(self.limit, max(least, TIMES * self._taken))

    def _wait_until(self, end: float) -> None:
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        self._timer = self.clock.callLater(max(0.0, self._begun + end - self.clock.seconds()), self._late)

    def _late(self) -> None:
        """A process that was held up sees its clock before it sees what came meanwhile."""
        self._timer = self.clock.callLater(LAST_LOOK, self._give_up)

    def _give_up(self) -> None:
        seconds = self.clock.seconds() - self._begun
        for name in self._waiting:
            why = f"did not answer within {seconds:.1f} s"
            self._outcomes[name] = Outcome(error=NodeUnreachableError(f"node {name} {why}: {self.call.name}", why))
        if not self._done.called:
            self._done.callback(None)

    def _end(self) -> None:
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        for waiting in self._waiting.values():
            waiting.cancel()
