"""Nodes that answer as a test tells them to."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from attrs import define, field
from zope.interface import implementer

from ganeti_tx.errors import GanetiError
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, NodeOfflineError, Outcome, R, RpcError, Target

#: Takes the node's name and the call; gives the answer, or raises an RpcError.
Answer = Callable[[str, Any], Any]


@implementer(INodeRpc)
@define
class FakeNodeRpc:
    """Keeps what was sent, in order. A kind of call without an answer of its own is answered with None.

    As with real nodes, what is marked offline is never sent anything.
    """

    sent: list[tuple[str, NodeCall[object]]] = field(factory=list)
    answers: dict[type[NodeCall[object]], Answer] = field(factory=dict)

    def answer(self, kind: type[NodeCall[object]], value: Any) -> None:
        """From now on this is the answer to such calls."""
        self.answers[kind] = lambda node, call: value

    def fail(
        self, kind: type[NodeCall[object]], text: str | GanetiError, error: type[RpcError] = NodeCallError
    ) -> None:
        """From now on such calls fail; with an error of the node's own its class arrives, too."""

        def refuse(node: str, call: Any) -> Any:
            if isinstance(text, GanetiError):
                raise NodeCallError(f"node {node}: {text}", text)
            raise error(f"node {node}: {text}")

        self.answers[kind] = refuse

    def kinds(self) -> list[str]:
        """The names of the calls sent, in order."""
        return [call.name for _, call in self.sent]

    def of_kind(self, kind: type[NodeCall[object]]) -> list[Any]:
        """The calls of one kind that were sent."""
        return [call for _, call in self.sent if isinstance(call, kind)]

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """See INodeRpc."""
        if node.offline:
            raise NodeOfflineError(f"node {node.name} is marked offline")
        self.sent.append((node.name, call))
        answer = self.answers.get(type(call))
        return cast(R, None if answer is None else answer(node.name, call))

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """See INodeRpc."""
        outcomes: dict[str, Outcome[Any]] = {}
        for node in nodes:
            try:
                outcomes[node.name] = Outcome(await self.call(node, call, timeout))
            except RpcError as error:
                outcomes[node.name] = Outcome(error=error)
        return outcomes
