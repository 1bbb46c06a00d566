"""What nodes are asked while a query runs: all at the same time, and what fails stays a fact of its node."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from twisted.internet.defer import Deferred, gatherResults

from ganeti_tx.errors import GanetiError, ResultValidationError
from ganeti_tx.model.console import ToldConsole, console_of
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_spec import InstanceSpec
from ganeti_tx.model.node import Node
from ganeti_tx.model.params.backend import fill_beparams
from ganeti_tx.model.params.hypervisor import instance_hvparams
from ganeti_tx.query.language.cell import NO_DATA, OFFLINE, Cell
from ganeti_tx.query.view import View
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, InstanceConsoles, RunningInstance
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageUnit
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, NodeOfflineError, Outcome, RpcError

#: Seconds that a node has for consoles; it has just said what runs there, and need not look for anything.
CONSOLE_LIMIT = 2.0

#: What each node answered, by the node's name.
Running = Mapping[str, Outcome[dict[str, RunningInstance]]]
Facts = Mapping[str, Outcome[NodeFacts]]
#: How to reach an instance's console, by the instance's uuid.
Consoles = Mapping[str, Outcome[dict[str, Any]]]


async def running_instances(rpc: INodeRpc, nodes: Iterable[Node], hypervisors: Iterable[str]) -> Running:
    """What runs on each node under these hypervisors."""
    return await rpc.call_many(list(nodes), AllInstancesInfo(hypervisors=sorted(hypervisors)))


async def node_facts(
    rpc: INodeRpc, nodes: Iterable[Node], hypervisors: Iterable[str], units: list[StorageUnit]
) -> Facts:
    """What each node says of itself."""
    return await rpc.call_many(list(nodes), NodeInfo(storage_units=units, hypervisors=list(hypervisors)))


async def consoles(rpc: INodeRpc, view: View, instances: Iterable[Instance]) -> Consoles:
    """How to reach the consoles: nodes are asked side by side, each once for all of its instances."""
    by_node: dict[str, list[Instance]] = {}
    for instance in instances:
        by_node.setdefault(instance.primary_node, []).append(instance)
    found = [_consoles_of(rpc, view, view.config.nodes[node], held) for node, held in by_node.items()]
    answers = await gatherResults(map(Deferred.fromCoroutine, found), consumeErrors=True)
    return {uuid: outcome for answer in answers for uuid, outcome in answer.items()}


async def _consoles_of(rpc: INodeRpc, view: View, node: Node, instances: Sequence[Instance]) -> Consoles:
    specs = [console_spec(view, instance) for instance in instances]
    try:
        answer = await rpc.call(node, InstanceConsoles(instances=specs), CONSOLE_LIMIT)
    except RpcError as error:
        return {spec.uuid: Outcome(error=error) for spec in specs}
    return {spec.uuid: _console(spec, node, answer[spec.name]) for spec in specs if spec.name in answer}


def _console(spec: InstanceSpec, node: Node, told: ToldConsole) -> Outcome[dict[str, Any]]:
    try:
        return Outcome(msgspec.to_builtins(console_of(spec, node, told)))
    except ResultValidationError as error:
        return Outcome(error=NodeCallError(str(error), error))


def console_spec(view: View, instance: Instance) -> InstanceSpec:
    """What a node must know to tell of the console; disks, NICs and the OS play no part in it."""
    node = view.config.nodes[instance.primary_node]
    return InstanceSpec(
        name=instance.name,
        uuid=instance.uuid,
        primary_node=node.name,
        hypervisor=instance.hypervisor.value,
        os=instance.os,
        hvparams=dict(instance_hvparams(view.cluster, instance)),
        beparams=dict(fill_beparams(view.cluster, instance.beparams)),
        tags=list(instance.tags),
        network_port=instance.network_port,
    )


def reason(error: GanetiError | None) -> Cell:
    """The cell for what a node did not tell."""
    return OFFLINE if isinstance(error, NodeOfflineError) else NO_DATA
