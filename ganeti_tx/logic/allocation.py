"""Asking an instance allocator: a step that any unit can take, once it holds the locks that keep what it is told true."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

import attrs
import msgspec

from ganeti_tx.allocator.answer import read_answer
from ganeti_tx.allocator.document import Load, document, room
from ganeti_tx.allocator.requests import Allocate, R, Relocate, Request
from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.questions import check_takes_instances
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.default_allocators import names_for, options_for
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.enums import DiskTemplate, Hypervisor, StorageType
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.instance_view import InstanceView, InstanceViews
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.types import AllocatorMode
from ganeti_tx.model.pools import pool_of
from ganeti_tx.rpc.calls.allocator import IallocatorRunner
from ganeti_tx.rpc.calls.instance import AllInstancesInfo, RunningInstance
from ganeti_tx.rpc.calls.node import NodeFacts, NodeInfo, StorageUnit
from ganeti_tx.rpc.interfaces import INodeRpc, NodeCallError, Outcome, RpcError

#: Stands for the cluster's default allocator.
DEFAULT = "."
#: What an allocator must be told of a node.
TOLD = ("memory_total", "memory_free", "memory_dom0", "cpu_total", "cpu_dom0")

Warn = Callable[[str], None]


@attrs.frozen
class Chosen(Generic[R]):
    """What an allocator answers, and which one that was."""

    allocator: str
    result: R


def allocators(asked: str | None, cluster: Cluster, kind: AllocatorMode) -> tuple[str, ...]:
    """Which allocators are meant, to be tried in order: the one asked for, or else the cluster's for such requests.

    @raise OpPrereqError: the cluster's are meant, but it has none.
    """
    if asked not in (None, DEFAULT):
        return (asked,)
    if names := names_for(cluster.default_iallocator, kind):
        return names
    for_that = f" for requests of kind {kind.value}" if cluster.default_iallocator else ""
    raise OpPrereqError(
        f"there is no cluster-wide default iallocator{for_that}; please give the name of one", ECode.INVAL
    )


async def asked_groups(config: IConfig, asked: str | None) -> tuple[Sequence[NodeGroup], str | None]:
    """The groups that may be chosen from, and the name of the only one, if one was asked for by name or uuid."""
    if asked is None:
        return await config.groups(), None
    group = await config.group(asked)
    return [group], group.name


@attrs.frozen(kw_only=True)
class Allocation:
    """Asks allocators, one after the other until one succeeds.

    The room that counts is that for disks of `template`, the memory that of `hypervisor`.

    @ivar group: the uuid of the only group that they may see.
    @ivar options: more of them, for any allocator.
    """

    config: IConfig
    nodes: INodeRpc
    warn: Warn
    names: Sequence[str]
    template: DiskTemplate
    hypervisor: Hypervisor
    group: str | None = None
    options: Mapping[str, object] = {}

    async def ask(self, request: Request[R]) -> Chosen[R]:
        """The first answer to a request that helps.

        @raise OpPrereqError: the last one has found nothing.
        @raise OpExecError: the last one cannot be run, or does not keep to the protocol.
        """
        state = await self.config.everything()
        idata = await self.told(state, request)
        for name in self.names[:-1]:
            try:
                return await self._ask(name, state, idata, request)
            except (OpPrereqError, OpExecError) as error:
                self.warn(f"{error}; trying the next iallocator")
        return await self._ask(self.names[-1], state, idata, request)

    async def told(self, state: InstanceViews, request: Any) -> str:
        """The document that they read."""
        return document(state, await self._loads(state), request, self.group).decode()

    async def said(self, request: Any) -> str:
        """What the first of them prints, whatever that is. @raise OpExecError: it cannot be run, or has failed."""
        state = await self.config.everything()
        return await self._run(self.names[0], state, await self.told(state, request))

    async def _ask(self, name: str, state: InstanceViews, idata: str, request: Request[R]) -> Chosen[R]:
        return Chosen(name, read_answer(name, request, await self._run(name, state, idata)))

    async def _run(self, name: str, state: InstanceViews, idata: str) -> str:
        cluster = state.cluster
        own = options_for(cluster.default_iallocator_params, cluster.default_iallocator, name)
        call = IallocatorRunner(allocator=name, idata=idata, default_iallocator_params={**own, **self.options})
        try:
            return await self.nodes.call(state.nodes[cluster.master_node], call)
        except RpcError as error:
            cause = error.cause if isinstance(error, NodeCallError) else error
            raise OpExecError(f"Failure while running the iallocator script: {cause}") from None

    async def _loads(self, state: InstanceViews) -> Mapping[str, Load]:
        """What the nodes tell that can have instances; one that does not tell is told of, and not to be used."""
        seen = [node for node in state.nodes.values() if self.group in (None, node.group)]
        able = [node for node in seen if node.vm_capable and not node.offline]
        unit = storage_unit(state.cluster, self.template)
        hypervisors = [each.value for each in state.cluster.enabled_hypervisors]
        facts: dict[str, Outcome[NodeFacts]] = {}
        for exclusive in (False, True):
            members = [
                node for node in able if is_exclusive(state.cluster, state.groups[node.group], node) is exclusive
            ]
            told = NodeInfo(storage_units=measured(unit, exclusive), hypervisors=[self.hypervisor.value])
            facts.update(await self.nodes.call_many(members, told) if members else {})
        running = await self.nodes.call_many(able, AllInstancesInfo(hypervisors=hypervisors))
        instances = {each.name: each for each in state.instances}
        loads: dict[str, Load] = {}
        for node in able:
            try:
                found = running[node.name].get()
                own = {
                    name: machine
                    for name, each in found.items()
                    if name in instances and (machine := each.own(instances[name]))
                }
                loads[node.name] = self._load(node, facts[node.name].get(), own)
            except RpcError as error:
                self.warn(f"node {node.name} is not proposed to the iallocator: {error}")
        return loads

    def _load(self, node: Node, facts: NodeFacts, running: Mapping[str, RunningInstance]) -> Load:
        """@raise RpcError: the node does not tell enough."""
        known: Mapping[str, Any] = facts.hypervisors.get(self.hypervisor.value, {})
        if missing := [name for name in TOLD if not isinstance(known.get(name), int)]:
            raise RpcError(f"{self.hypervisor.value} on it does not tell {', '.join(missing)}")
        space = facts.storage[0] if facts.storage else None
        spindles = next((each for each in facts.storage if each.type == StorageType.LVM_PV), None)
        return Load(
            total_memory=known["memory_total"],
            free_memory=known["memory_free"],
            reserved_memory=known["memory_dom0"],
            total_cpus=known["cpu_total"],
            reserved_cpus=known["cpu_dom0"],
            total_disk=(space.storage_size or 0) if space is not None else 0,
            free_disk=(space.storage_free or 0) if space is not None else 0,
            total_spindles=(spindles.storage_size or 0) if spindles is not None else 0,
            free_spindles=(spindles.storage_free or 0) if spindles is not None else 0,
            running={name: instance.memory for name, instance in running.items()},
        )


def measured(unit: StorageUnit | None, exclusive: bool) -> list[StorageUnit]:
    """What is asked of nodes about the room for disks: with exclusive storage their physical volumes count, too."""
    if unit is None:
        return []
    if not exclusive or unit.type != StorageType.LVM_VG:
        return [unit]
    return [unit.of(True), StorageUnit(StorageType.LVM_PV.value, unit.name)]


def selected(instance: str, allocator: str, nodes: Sequence[str]) -> str:
    """How the operator is told of a choice."""
    return f"- INFO: Selected nodes for instance {instance} via iallocator {allocator}: {', '.join(nodes)}"


async def ask_among(allocation: Allocation, request: Allocate, names: list[str]) -> Chosen[list[str]]:
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


async def relocate(parts: Parts, asked: str | None, view: InstanceView, leave: Sequence[Node]) -> Node:
    """Another node for an instance in the place of one that it is to leave: the primary one of an instance on shared
    storage, the secondary one of a mirrored one. It is in the same group, has nothing of the instance, and takes instances.

    The caller holds the node allocation lock and those of all nodes of the group, and lets go of what was not chosen.

    @param asked: the allocator; None or "." are the cluster's default ones.
    @raise OpPrereqError: there is no allocator, or it finds no node.
    @raise OpExecError: it does not work, or has chosen a node that cannot be.
    """
    cluster = await parts.config.cluster()
    allocation = Allocation(
        config=parts.config,
        nodes=parts.nodes,
        warn=parts.warn,
        names=allocators(asked, cluster, AllocatorMode.RELOCATE),
        template=view.disk_template,
        hypervisor=view.instance.hypervisor,
        group=view.group.uuid if len(view.groups) == 1 else None,  # it must be told of all nodes of the instance
    )
    chosen = await allocation.ask(relocation(view, leave))
    (name,) = chosen.result
    nodes = {node.name: node for node in await parts.config.nodes()}
    if fault := unfit(nodes.get(name), view):
        raise OpExecError(f"iallocator '{chosen.allocator}' has chosen {name!r:.200} for {view.instance.name}: {fault}")
    parts.info(selected(view.instance.name, chosen.allocator, [name]))
    return nodes[name]


def relocation(view: InstanceView, leave: Sequence[Node]) -> Relocate:
    """The request for another node in the place of one."""
    return Relocate(
        name=view.instance.name,
        disk_space_total=room(view.disk_template, [disk.size for disk in view.disks]),
        relocate_from=[node.name for node in leave],
    )


def unfit(node: Node | None, view: InstanceView) -> str | None:
    """Why a node cannot be a new one for an instance within its group; None when it can."""
    if node is None:
        return "there is no such node"
    if node.uuid in view.nodes:
        return "the instance is there already"
    if node.group != view.group.uuid:
        return f"it is not in the instance's group {view.group.name}"
    try:
        check_takes_instances(node)
    except OpPrereqError as error:
        return str(error)
    return None
