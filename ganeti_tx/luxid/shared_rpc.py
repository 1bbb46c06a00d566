"""Node calls that only read: what several queries want to know at the same time a node is asked once."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.each_node import outcome_of
from ganeti_tx.rpc.interfaces import INodeRpc, Outcome, R, Target

Waiting = list["Deferred[Outcome[Any]]"]
Key = tuple[Any, ...]


@implementer(INodeRpc)
@define(eq=False)
class SharedRpc:
    """Who asks a node what it is being asked already gets its next answer, together with all others who wait for it;
    so no answer is older than its question. Who stops waiting stops no call.
    """

    rpc: INodeRpc
    _under_way: set[Key] = field(factory=set)
    _waiting: dict[Key, Waiting] = field(factory=dict)

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        return (await self._outcome(node, call, timeout)).get()

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        asked = {node.name: self._outcome(node, call, timeout) for node in nodes}
        try:
            return {name: await outcome for name, outcome in asked.items()}
        except CancelledError:
            for outcome in asked.values():
                outcome.addErrback(lambda _: None).cancel()
            raise

    def _outcome(self, node: Target, call: NodeCall[R], timeout: float | None) -> "Deferred[Outcome[R]]":
        key = node.name, node.primary_ip, node.offline, call.name, msgspec.json.encode(call), timeout
        waiting: Deferred[Outcome[R]] = Deferred()
        self._waiting.setdefault(key, []).append(waiting)
        if key not in self._under_way:
            self._ask(key, node, call, timeout)
        return waiting

    def _ask(self, key: Key, node: Target, call: NodeCall[object], timeout: float | None) -> None:
        askers = self._waiting.pop(key)
        self._under_way.add(key)

        def answered(outcome: Outcome[Any] | Failure) -> None:
            self._under_way.discard(key)
            self._waiting[key] = [each for each in self._waiting.pop(key, []) if not each.called]
            if self._waiting[key]:
                self._ask(key, node, call, timeout)
            else:
                del self._waiting[key]
            for asker in askers:
                if not asker.called:  # else it was cancelled
                    asker.callback(outcome)

        asked = outcome_of(lambda node: self.rpc.call(node, call, timeout), node)
        Deferred.fromCoroutine(asked).addBoth(answered)
