"""Nodes that answer as a test tells them to."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from zope.interface import implementer

from ganeti_tx.errors import GanetiError, GenericError
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, NodeOfflineError, Outcome, R, RpcError, Target
from ganeti_tx.rpc.wire import decode_answer, decode_call, encode_call, encode_failure, encode_success

#: Takes the node's name and the call; gives the answer, or a Deferred of it, or raises an error of the node's or an RpcError.
Answer = Callable[[str, Any], Any]


class NotScripted(AssertionError):
    """The test did not say what a node answers to such a call."""


@implementer(INodeRpc)
@define
class FakeNodeRpc:
    """Keeps what was sent, in order. Calls and answers cross in the bytes of the wire; what was not scripted is refused.

    As with real nodes, what is marked offline is never sent anything.
    """

    sent: list[tuple[str, NodeCall[object]]] = field(factory=list)
    answers: dict[type[NodeCall[object]], Answer] = field(factory=dict)

    def answer(self, kind: type[NodeCall[object]], value: Any) -> None:
        """From now on this is the answer to such calls."""
        self.answers[kind] = lambda node, call: value

    def succeed(self, *kinds: type[NodeCall[str | None]]) -> None:
        """From now on such calls, which have nothing to answer, are done."""
        for kind in kinds:
            self.answer(kind, None)

    def fail(
        self, kind: type[NodeCall[object]], text: str | GanetiError, error: type[RpcError] = NodeCallError
    ) -> None:
        """From now on such calls fail: there, with an error of the node's own, or on the way."""

        def refuse(node: str, call: Any) -> Any:
            if isinstance(text, GanetiError):
                raise text
            raise GenericError(text) if error is NodeCallError else error(f"node {node}: {text}")

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
        arrived = decode_call(type(call), encode_call(call))
        self.sent.append((node.name, arrived))
        try:
            body = encode_success(await self.perform(node.name, arrived))
        except RpcError:
            raise
        except GanetiError as error:
            body = encode_failure(error)
        return decode_answer(node.name, call, body)

    async def perform(self, node: str, call: NodeCall[object]) -> object:
        """What a node makes of a call. @raise GanetiError: the node's own error. @raise RpcError: it never gets there, or back."""
        answer = self.answers.get(type(call))
        if answer is None:
            raise NotScripted(f"{call.name} on {node}: the test says no answer")
        value = answer(node, call)
        return await value if isinstance(value, Deferred) else value

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
