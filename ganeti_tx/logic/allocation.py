"""Asking an instance allocator: a step that any unit can take, once it holds the locks that keep what it is told true."""

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import msgspec

from ganeti_tx.allocator.answer import read_answer
from ganeti_tx.allocator.document import Load, document
from ganeti_tx.allocator.requests import Allocate, R, Request
from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor
from ganeti_tx.model.instance_view import InstanceViews
from ganeti_tx.model.node import Node
from ganeti_tx.model.pools import pool_of
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, RunningInstance
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageUnit
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, RpcError

#: Stands for the cluster's default allocator.
DEFAULT = "."
#: What an allocator must be told of a node.
TOLD = ("memory_total", "memory_free", "memory_dom0", "cpu_total", "cpu_dom0")

Warn = Callable[[str], None]


def allocator_name(asked: str, cluster: Cluster) -> str:
    """Which allocator is meant. @raise OpPrereqError: the cluster's default one, but it has none."""
    name = cluster.default_iallocator if asked == DEFAULT else asked
    if not name:
        raise OpPrereqError("there is no cluster-wide default iallocator; please give the name of one", ECode.INVAL)
    return name


@attrs.frozen(kw_only=True)
class Allocation:
    """Asks one allocator. The room that counts is that for disks of `template`, the memory that of `hypervisor`.

    @ivar group: the uuid of the only group that it may see.
    """

    config: IConfig
    nodes: INodeRpc
    warn: Warn
    name: str
    template: DiskTemplate
    hypervisor: Hypervisor
    group: str | None = None

    async def ask(self, request: Request[R]) -> R:
        """What it answers to a request.

        @raise OpPrereqError: it has found nothing.
        @raise OpExecError: it cannot be run, or does not keep to the protocol.
        """
        state = await self.config.everything()
        loads = await self._loads(state)
        call = IallocatorRunner(
            allocator=self.name,
            idata=document(state, loads, request, self.group).decode(),
            default_iallocator_params=dict(options(state.cluster, self.name)),
        )
        try:
            said = await self.nodes.call(state.nodes[state.cluster.master_node], call)
        except RpcError as error:
            cause = error.cause if isinstance(error, NodeCallError) else error
            raise OpExecError(f"Failure while running the iallocator script: {cause}") from None
        return read_answer(self.name, request, said)

    async def _loads(self, state: InstanceViews) -> Mapping[str, Load]:
        """What the nodes tell that can have instances; one that does not tell is told of, and not to be used."""
        seen = [node for node in state.nodes.values() if self.group in (None, node.group)]
        able = [node for node in seen if node.vm_capable and not node.offline]
        unit = storage_unit(state.cluster, self.template)
        hypervisors = [each.value for each in state.cluster.enabled_hypervisors]
        told = NodeInfo(storage_units=[] if unit is None else [unit], hypervisors=[self.hypervisor.value])
        facts = await self.nodes.call_many(able, told)
        running = await self.nodes.call_many(able, AllInstancesInfo(hypervisors=hypervisors))
        loads: dict[str, Load] = {}
        for node in able:
            try:
                loads[node.name] = self._load(node, facts[node.name].get(), running[node.name].get())
            except RpcError as error:
                self.warn(f"node {node.name} is not proposed to the iallocator: {error}")
        return loads

    def _load(self, node: Node, facts: NodeFacts, running: Mapping[str, RunningInstance]) -> Load:
        """@raise RpcError: the node does not tell enough."""
        known: Mapping[str, Any] = facts.hypervisors.get(self.hypervisor.value, {})
        if missing := [name for name in TOLD if not isinstance(known.get(name), int)]:
            raise RpcError(f"{self.hypervisor.value} on it does not tell {', '.join(missing)}")
        space = facts.storage[0] if facts.storage else None
        return Load(
            total_memory=known["memory_total"],
            free_memory=known["memory_free"],
            reserved_memory=known["memory_dom0"],
            total_cpus=known["cpu_total"],
            reserved_cpus=known["cpu_dom0"],
            total_disk=(space.storage_size or 0) if space is not None else 0,
            free_disk=(space.storage_free or 0) if space is not None else 0,
            running={name: instance.memory for name, instance in running.items()},
        )


async def ask_among(allocation: Allocation, request: Allocate, names: list[str]) -> list[str]:
    """The answer where only the nodes that happen to be free may be chosen.

    @raise OpPrereqError: temporarily, if it has found nothing: others may be free later.
    """
    if len(names) < request.required_nodes:
        raise OpPrereqError(
            f"Not enough nodes are free to lock: {len(names)}, but {request.required_nodes} wanted; try again later, or"
            " without --opportunistic-locking",
            ECode.TEMP_NORES,
        )
    try:
        return await allocation.ask(msgspec.structs.replace(request, restrict_to_nodes=names))
    except OpPrereqError as error:
        if error.ecode is not ECode.NORES:
            raise
        raise OpPrereqError(str(error), ECode.TEMP_NORES) from None


def storage_unit(cluster: Cluster, template: DiskTemplate) -> StorageUnit | None:
    """The pool whose room counts: the template's, or that of the first enabled one that has a pool."""
    for each in (template, *cluster.enabled_disk_templates):
        if pool := pool_of(TEMPLATES[each], cluster):
            return StorageUnit(TEMPLATES[each].storage.value, pool)
    return None


def options(cluster: Cluster, name: str) -> Mapping[str, Any]:
    """Options for an allocator: the cluster has some for its default one, which others need not know."""
    return cluster.default_iallocator_params if name == cluster.default_iallocator else {}
