"""The seam between those who need a node to do something and the wire."""

from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, TypeVar

import attrs
from zope.interface import Interface

from ganeti_tx.errors import GanetiError, GenericError, OpExecError
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.refusals import CallTooLate

R = TypeVar("R")
#: Seconds that a node has for an answer when somebody only looks, and waits for it.
PROMPT = 10.0


class Target(Protocol):
    """Where a call goes; a configured Node is one, and so is a NodeAddress."""

    @property
    def name(self) -> str:
        """The node's name, which its certificate must carry."""

    @property
    def primary_ip(self) -> str:
        """Where its node daemon listens."""

    @property
    def offline(self) -> bool:
        """An offline node is never sent a packet (design-2.0, Node flags)."""


class RpcError(OpExecError):
    """A node call that gave no result; the text names the node and the call.

    @ivar reason: why, for who knows the node and the call.
    @ivar may_be_done: whether the call may have been done all the same.
    """

    may_be_done: bool = False

    def __init__(self, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.reason = reason or text


class NodeOfflineError(RpcError):
    """The node is marked offline: nothing was sent."""


class NodeUnreachableError(RpcError):
    """The node could not be reached, broke off, or did not answer in time: whether the call was done is unknown."""

    may_be_done: bool = True


class NodeCallError(RpcError):
    """The node answered that the call failed.

    @ivar cause: the node's own error, of the class that it had there: one of Ganeti's, or of `rpc.refusals`.
    """

    def __init__(self, text: str, cause: GanetiError | None = None) -> None:
        self.cause = cause or GenericError(text)
        self.may_be_done = isinstance(self.cause, CallTooLate)  # the network may have brought the same call twice
        super().__init__(text, str(self.cause))


@attrs.frozen
class Outcome(Generic[R]):
    """What one of several nodes answered: `error` is None when `value` counts."""

    value: R | None = None
    error: RpcError | None = None

    @property
    def offline(self) -> bool:
        """Whether nothing was sent because the node is offline."""
        return isinstance(self.error, NodeOfflineError)

    def get(self) -> R:
        """The value. @raise RpcError: there is none."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class INodeRpc(Interface):
    """Calls of `rpc.calls` on nodes: values that know their name, time limit and result."""

    async def call(node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """The call's typed result. @raise RpcError: one of the three above."""

    async def call_many(
        nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """The same call on many nodes at the same time, by node name; never raises an RpcError."""
