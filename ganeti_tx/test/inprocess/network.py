"""Node calls in memory: coded as on the wire, slow as a wire, and as unreliable as a test wants them."""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, TimeoutError
from zope.interface import implementer

from ganeti_tx.errors import GanetiError, GenericError
from ganeti_tx.node.dispatch import NodeDispatch
from ganeti_tx.rpc.calls.base import NodeCall, Sender
from ganeti_tx.rpc.client import CONNECT_LIMIT
from ganeti_tx.rpc.interfaces import (
    INodeRpc,
    NodeOfflineError,
    NodeUnreachableError,
    Outcome,
    R,
    RpcError,
    Target,
)
from ganeti_tx.rpc.wire import decode_answer, decode_call, encode_call, encode_failure, encode_success
from ganeti_tx.test.inprocess.simulation import Process

#: Seconds that a call takes to a node, and its answer back.
LATENCY = 0.001
#: Seconds after which callers find out that a machine that was answering them has gone without a word.
SILENCE_LIMIT = 60.0


class Trouble(Enum):
    """What can go wrong with a call besides the node's own "no"."""

    REFUSED = "nobody listens there"
    LOST = "the call never arrives"
    ANSWER_LOST = "the call is done, its answer never arrives"
    SILENT = "no connection can be had, and nobody says so"
    BROKEN = "the call is taken, and the connection breaks at once; what the node does it does"


#: Of these nothing is ever heard. That is told after so many seconds though the call has more: hours of a cluster in which
#: nothing but clocks goes on show nothing, and take long.
UNHEARD = (Trouble.LOST, Trouble.ANSWER_LOST)
PATIENCE = 600.0


@frozen
class Says:
    """The node's own "no"."""

    text: str


@frozen
class Twice:
    """The node gets the call a second time, so many seconds later; the caller hears of the first.

    The second overtakes the first when it comes by up to `LATENCY` earlier.
    """

    after: float


@frozen
class Late:
    """The node gets to the call only after so many seconds, whether or not its caller still waits."""

    by: float


Wrong = Trouble | Says | Twice | Late
#: Asked for each call with the node's name; gives what is to go wrong, if anything.
Fault = Callable[[str, NodeCall[object]], Wrong | None]


@frozen
class Sent:
    """A call that went out."""

    at: float
    caller: str
    node: str
    call: NodeCall[object]


@frozen
class Origin:
    """The machine that calls come from, as its certificate and its address tell."""

    name: str
    address: str


@define(eq=False)
class Exchange:
    """A call that waits for its answer."""

    rpc: "NetworkRpc"
    node: Target
    call: NodeCall[object]
    answer: "Deferred[bytes]" = field(factory=Deferred)

    def succeed(self, data: bytes) -> None:
        """The answer is there, unless it was given up."""
        if not self.answer.called:
            self.answer.callback(data)

    def fail(self, why: str) -> None:
        """There will be no answer."""
        if not self.answer.called:
            where = f"node {self.node.name} ({self.node.primary_ip})"
            self.answer.errback(NodeUnreachableError(f"cannot reach {where} for {self.call.name}: {why}", why))


@define(eq=False)
class Listener:
    """A node daemon that answers at an address, and whom it has yet to answer."""

    process: Process
    dispatch: NodeDispatch
    owes: list[Exchange] = field(factory=list)

    def take(self, exchange: Exchange, body: bytes, trouble: Wrong | None) -> None:
        """A call comes, at once or late, once or twice. What was on its way to a daemon that ends is lost with it."""
        self.process.arrive(LATENCY, self.perform, exchange, exchange.call.name, body, trouble)
        if isinstance(trouble, Twice):
            self.process.callLater(LATENCY + trouble.after, self._again, exchange, body)

    def _late(self, exchange: Exchange, body: bytes) -> None:
        """Whoever hung up meanwhile is not served; see `node.http`. A copy, which is ordered, may come all the same."""
        if not exchange.answer.called or exchange.call.sender is Sender.MASTER:
            self.perform(exchange, exchange.call.name, body, None)

    def _again(self, exchange: Exchange, body: bytes) -> None:
        Deferred.fromCoroutine(perform(self.dispatch, exchange.call.name, body, exchange.rpc.origin.name))

    def perform(self, exchange: Exchange, name: str, body: bytes, trouble: Wrong | None) -> None:
        """Take a call, in the daemon's process."""
        if isinstance(trouble, Late):
            self.process.callLater(trouble.by, self._late, exchange, body)
            return
        if trouble is Trouble.BROKEN:
            exchange.rpc.process.arrive(LATENCY, exchange.fail, "the connection was lost")
        doing = Deferred.fromCoroutine(perform(self.dispatch, name, body, exchange.rpc.origin.name))
        doing.addCallback(lambda data: self._answer(exchange, data))

    def _answer(self, exchange: Exchange, data: bytes) -> None:
        if exchange in self.owes:
            self.owes.remove(exchange)
            exchange.rpc.process.arrive(LATENCY, exchange.succeed, data)

    def gone(self, heard_after: float) -> None:
        """It answers nobody any more; its callers hear of it after so many seconds."""
        for exchange in self.owes:
            exchange.rpc.process.callLater(heard_after, exchange.fail, "the connection was lost")
        self.owes.clear()


@define(eq=False)
class Network:
    """Who answers where, and what was sent."""

    daemons: dict[str, Listener] = field(factory=dict)
    sent: list[Sent] = field(factory=list)
    cut_off: set[str] = field(factory=set)
    silent: set[str] = field(factory=set)
    fault: Fault | None = None

    def listen(self, address: str, listener: Listener) -> None:
        """A node daemon answers there from now on."""
        self.daemons[address] = listener

    def stop(self, address: str, heard_after: float) -> None:
        """Nobody answers there any more; who waits for an answer hears of it after so many seconds."""
        listener = self.daemons.pop(address, None)
        if listener is not None:
            listener.gone(heard_after)

    def fall_silent(self, address: str) -> None:
        """A machine is gone; who waits for it finds out in the end."""
        self.silent.add(address)
        self.stop(address, SILENCE_LIMIT)

    def is_up(self, address: str) -> bool:
        """Whether packets go to an address and come from it."""
        return address not in self.cut_off and address not in self.silent

    def trouble(self, node: Target, call: NodeCall[object], origin: Origin) -> Wrong | None:
        """What happens to a call."""
        wanted = self.fault(node.name, call) if self.fault is not None else None
        if node.primary_ip in self.cut_off:
            return Trouble.LOST
        if origin.address != node.primary_ip and not self.silent.isdisjoint((node.primary_ip, origin.address)):
            return Trouble.SILENT
        return wanted if node.primary_ip in self.daemons else Trouble.REFUSED


@implementer(INodeRpc)
@define
class NetworkRpc:
    """INodeRpc for one process."""

    network: Network
    process: Process
    origin: Origin

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """See INodeRpc."""
        if node.offline:
            raise NodeOfflineError(f"node {node.name} is marked offline; {call.name} was not sent")
        body = encode_call(call)
        limit = timeout if timeout is not None else call.time_limit()
        self.network.sent.append(Sent(self.process.seconds(), self.process.name, node.name, call))
        exchange, trouble = Exchange(self, node, call), self.network.trouble(node, call, self.origin)
        self._send(exchange, body, trouble)
        exchange.answer.addTimeout(min(limit, PATIENCE) if trouble in UNHEARD else limit, self.process)
        try:
            data = await exchange.answer
        except TimeoutError:
            raise NodeUnreachableError(f"node {node.name} did not answer {call.name} within {limit:.0f} s")
        return decode_answer(node.name, call, data)

    def _send(self, exchange: Exchange, body: bytes, trouble: Wrong | None) -> None:
        if trouble is None or trouble in (Trouble.ANSWER_LOST, Trouble.BROKEN) or isinstance(trouble, Twice | Late):
            daemon = self.network.daemons[exchange.node.primary_ip]
            daemon.take(exchange, body, trouble)
            if trouble is not Trouble.ANSWER_LOST:
                daemon.owes.append(exchange)
        if trouble is Trouble.REFUSED:
            self.process.arrive(LATENCY, exchange.fail, "Connection refused")
        elif trouble is Trouble.SILENT:
            self.process.callLater(CONNECT_LIMIT, exchange.fail, "the connection timed out")
        elif isinstance(trouble, Says):
            self.process.arrive(2 * LATENCY, exchange.succeed, encode_failure(GenericError(trouble.text)))

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """See INodeRpc."""
        running = {node.name: Deferred.fromCoroutine(self._outcome(node, call, timeout)) for node in nodes}
        return {name: await outcome for name, outcome in running.items()}

    async def _outcome(self, node: Target, call: NodeCall[object], timeout: float | None) -> Outcome[Any]:
        try:
            return Outcome(value=await self.call(node, call, timeout))
        except RpcError as error:
            return Outcome(error=error)


async def perform(dispatch: NodeDispatch, name: str, body: bytes, caller: str) -> bytes:
    """The node daemon's side of a call, from bytes to bytes."""
    try:
        return encode_success(await dispatch.perform(decode_call(dispatch.kind_of(name), body), caller))
    except GanetiError as error:
        return encode_failure(error)
