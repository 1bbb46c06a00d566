"""What the nodes say of themselves, for the metrics: asked seldom, not waited for long, and absent where unknown."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from ganeti_tx.metrics.metric import Gauge
from ganeti_tx.metrics.nodes import AGE, CPUS, DISK, DISK_FREE, INSTANCES, MEMORY, MEMORY_FREE, UP
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.node import Node
from ganeti_tx.query.fields_node import NODE_FIELDS, NodeContext
from ganeti_tx.query.instance_context import InstanceContext
from ganeti_tx.query.instances import InstanceRows
from ganeti_tx.query.language.field import MISSING, Need
from ganeti_tx.query.nodes import NodeRows
from ganeti_tx.query.view import Views
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.node import Version
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, Outcome, R, RpcError, Target

log = Logger()

#: Seconds for which what the nodes said is shown again.
KEPT = 15.0
#: Seconds that a node has for its answer; one that takes longer counts as down. Prometheus gives a page ten.
ANSWER_LIMIT = 4.0

MIB = 1024 * 1024
#: The gauges that a field of nodes gives, and the size of its unit.
SIZES: Mapping[str, tuple[Gauge, int]] = {
    "mtotal": (MEMORY, MIB),
    "mfree": (MEMORY_FREE, MIB),
    "dtotal": (DISK, MIB),
    "dfree": (DISK_FREE, MIB),
    "ctotal": (CPUS, 1),
}


@implementer(INodeRpc)
@frozen
class HurriedRpc:
    """Node calls that wait no longer than the limit."""

    rpc: INodeRpc

    async def call(self, node: Target, call: NodeCall[R], timeout: float | None = None) -> R:
        """As INodeRpc says."""
        return await self.rpc.call(node, call, ANSWER_LIMIT)

    async def call_many(
        self, nodes: Iterable[Target], call: NodeCall[R], timeout: float | None = None
    ) -> Mapping[str, Outcome[R]]:
        """As INodeRpc says."""
        return await self.rpc.call_many(nodes, call, ANSWER_LIMIT)


@frozen
class Seen:
    """What was seen of all nodes at one time, in seconds of the clock."""

    at: float
    nodes: Sequence[Node]
    node_context: NodeContext
    versions: Mapping[str, Outcome[int]]
    instances: Sequence[Instance]
    instance_context: InstanceContext


@define
class NodeWatch:
    """Asks all nodes when somebody wants to know and the last answers are old; all who want to know share one round."""

    rpc: INodeRpc
    views: Views
    clock: IReactorTime
    _seen: Seen | None = None
    _waiting: "list[Deferred[None]] | None" = field(default=None, init=False)

    async def refresh(self) -> None:
        """Returns when what is known is not old. Who waits no longer does not stop the round."""
        if self._seen is not None and 0 <= self.clock.seconds() - self._seen.at < KEPT:
            return  # else it is old, or the clock was set back
        if self._waiting is None:
            self._waiting = []
            asking = Deferred.fromCoroutine(self._ask())
            asking.addErrback(self._failed).addBoth(self._asked)
        if self._waiting is not None:
            waiting: Deferred[None] = Deferred()
            self._waiting.append(waiting)
            await waiting

    def _failed(self, failure: Failure) -> None:
        log.failure("the nodes could not be asked for their metrics", failure)

    def _asked(self, result: object) -> None:
        waiting, self._waiting = self._waiting or [], None
        for each in waiting:
            if not each.called:
                each.callback(None)

    async def _ask(self) -> None:
        rpc = HurriedRpc(self.rpc)
        at = self.clock.seconds()
        node_rows, instance_rows = NodeRows(self.views, rpc), InstanceRows(self.views, rpc)
        nodes, node_context = await node_rows.rows(None, frozenset(), strict=False)
        instances, instance_context = await instance_rows.rows(None, frozenset(), strict=False)
        others = [node for node in nodes if not node.vm_capable]
        answers: list[Any] = await gatherResults(
            [
                Deferred.fromCoroutine(node_rows.collect(nodes, node_context, frozenset({Need.NODES}))),
                Deferred.fromCoroutine(instance_rows.collect(instances, instance_context, frozenset())),
                Deferred.fromCoroutine(rpc.call_many(others, Version())),
            ],
            consumeErrors=True,
        )
        self._seen = Seen(at, nodes, answers[0], answers[2], instances, answers[1])

    def describe(self, tally: Tally) -> None:
        """Record what was seen last; nothing of nodes that are not configured any more."""
        for gauge in (UP, INSTANCES, AGE, *(gauge for gauge, _ in SIZES.values())):
            tally.forget(gauge)
        seen = self._seen
        if seen is None:
            return
        tally.set(AGE, max(self.clock.seconds() - seen.at, 0.0))
        describe_nodes(tally, seen)
        context = seen.instance_context
        statuses = Counter(
            (name, context.status(instance, told))
            for instance, told in zip(seen.instances, context.seen_each(seen.instances), strict=True)
            if (name := seen.node_context.view.node_name(instance.primary_node)) is not None
        )
        for (name, status), count in statuses.items():
            tally.set(INSTANCES, count, name, status)


def describe_nodes(tally: Tally, seen: Seen) -> None:
    """Which nodes answer, and their sizes as far as they told them."""
    readers = [(NODE_FIELDS[name].reader(seen.node_context), *SIZES[name]) for name in SIZES]
    answers: Mapping[str, Outcome[Any]] = {**seen.node_context.facts, **seen.versions}
    for node in seen.nodes:
        if not node.offline and (outcome := answers.get(node.name)) is not None:
            tally.set(UP, answered(outcome.error), node.name)
        for read, gauge, unit in readers:
            if (value := read(node)) is not MISSING:
                tally.set(gauge, value * unit, node.name)


def answered(error: RpcError | None) -> bool:
    """Whether the node's daemon is there; one that refuses a call is."""
    return error is None or isinstance(error, NodeCallError)
