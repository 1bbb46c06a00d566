"""Node calls in memory: coded as on the wire, slow as a wire, and as unreliable as a test wants them."""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, TimeoutError
from zope.interface import implementer

from ganeti_tx.node.dispatch import CallFailed, NodeDispatch, UnknownCall
from ganeti_tx.rpc.calls import NodeCall
from ganeti_tx.rpc.interfaces import (
    INodeRpc,
    NodeCallError,
    NodeOfflineError,
    NodeUnreachableError,
    Outcome,
    RpcError,
    Target,
)
from ganeti_tx.rpc.wire import decode_answer, decode_call, encode_call, encode_failure, encode_success
from ganeti_tx.test.inprocess.simulation import Process

#: Seconds that a call takes to a node, and its answer back.
LATENCY = 0.001


class Trouble(Enum):
    """What can go wrong with a call besides the node's own "no"."""

    REFUSED = "nobody listens there"
    LOST = "the call never arrives"
    ANSWER_LOST = "the call is done, its answer never arrives"


@frozen
class Says:
    """The node's own "no"."""

    text: str


#: Asked for each call with the node's name; gives what is to go wrong, if anything.
Fault = Callable[[str, NodeCall], Trouble | Says | None]


@frozen
class Sent:
    """A call that went out."""

    at: float
    caller: str
    node: str
    call: NodeCall


@define(eq=False)
class Listener:
    """A node daemon that answers at an address."""

    process: Process
    dispatch: NodeDispatch


@define(eq=False)
class Network:
    """Who answers where, and what was sent."""

    daemons: dict[str, Listener] = field(factory=dict)
    sent: list[Sent] = field(factory=list)
    cut_off: set[str] = field(factory=set)
    fault: Fault | None = None

    def trouble(self, node: Target, call: NodeCall) -> Trouble | Says | None:
        """What happens to a call."""
        wanted = self.fault(node.name, call) if self.fault is not None else None
        if node.primary_ip in self.cut_off:
            return Trouble.LOST
        return wanted if node.primary_ip in self.daemons else Trouble.REFUSED


@implementer(INodeRpc)
@define
class NetworkRpc:
    """INodeRpc for one process."""

    network: Network
    process: Process

    async def call(self, node: Target, call: Any, timeout: float | None = None) -> Any:
        """See INodeRpc."""
        if node.offline:
            raise NodeOfflineError(f"node {node.name} is marked offline; {call.name} was not sent")
        body = encode_call(call)
        limit = timeout if timeout is not None else call.time_limit()
        self.network.sent.append(Sent(self.process.seconds(), self.process.name, node.name, call))
        trouble = self.network.trouble(node, call)
        answer: Deferred[bytes] = Deferred()
        if trouble is None or trouble is Trouble.ANSWER_LOST:
            daemon = self.network.daemons[node.primary_ip]
            back = answer if trouble is None else Deferred()
            daemon.process.callLater(LATENCY, self._arrive, daemon, type(call).name, body, back)
        elif isinstance(trouble, Says):
            self.process.callLater(2 * LATENCY, self._answer, answer, encode_failure(trouble.text))
        elif trouble is Trouble.REFUSED:
            self.process.callLater(LATENCY, self._refuse, answer, node, call)
        answer.addTimeout(limit, self.process)
        try:
            data = await answer
        except TimeoutError:
            raise NodeUnreachableError(f"node {node.name} did not answer {call.name} within {limit:.0f} s")
        return decode_answer(node.name, call, data)

    def _arrive(self, daemon: Listener, name: str, body: bytes, back: "Deferred[bytes]") -> None:
        """In the daemon's process."""
        Deferred.fromCoroutine(perform(daemon.dispatch, name, body)).addCallback(
            lambda data: self.process.callLater(LATENCY, self._answer, back, data)
        )

    def _answer(self, answer: "Deferred[bytes]", data: bytes) -> None:
        if not answer.called:
            answer.callback(data)

    def _refuse(self, answer: "Deferred[bytes]", node: Target, call: NodeCall) -> None:
        if not answer.called:
            text = f"cannot reach node {node.name} ({node.primary_ip}) for {call.name}: Connection refused"
            answer.errback(NodeUnreachableError(text))

    async def call_many(
        self, nodes: Iterable[Target], call: Any, timeout: float | None = None
    ) -> Mapping[str, Outcome[Any]]:
        """See INodeRpc."""
        running = {node.name: Deferred.fromCoroutine(self._outcome(node, call, timeout)) for node in nodes}
        return {name: await outcome for name, outcome in running.items()}

    async def _outcome(self, node: Target, call: NodeCall, timeout: float | None) -> Outcome[Any]:
        try:
            return Outcome(value=await self.call(node, call, timeout))
        except RpcError as error:
            return Outcome(error=error)


async def perform(dispatch: NodeDispatch, name: str, body: bytes) -> bytes:
    """The node daemon's side of a call, from bytes to bytes."""
    try:
        return encode_success(await dispatch.perform(decode_call(dispatch.kind_of(name), body)))
    except (CallFailed, UnknownCall, NodeCallError) as error:
        return encode_failure(str(error))
