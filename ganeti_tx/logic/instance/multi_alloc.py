"""Making several instances at once: nodes are chosen for all of them together, and each is made by a job of its own."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import attrs
from msgspec.structs import replace

from ganeti_tx.allocator.requests import Allocate, several
from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.allocation import Allocation, allocators, asked_groups, selected
from ganeti_tx.logic.instance.create_plan import CreatePlan, allocate_request, check_os, make_plan, refuse_unavailable
from ganeti_tx.logic.instance.new_name import new_name
from ganeti_tx.logic.instance.nic_networks import named_networks
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import OF_NODES, held_nodes, on_allocation, on_nodes
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate, OpInstanceMultiAlloc
from ganeti_tx.model.opcodes.types import AllocatorMode, InstanceCreateMode

SUBMIT = "submit the jobs that create the instances"


@attrs.frozen
class Wanted:
    """One of the instances: its name, and what the name stands for."""

    op: OpInstanceCreate
    name: str
    address: str | None


class LUInstanceMultiAlloc(LogicalUnit[OpInstanceMultiAlloc]):
    """Have an allocator choose the nodes, unless they are given, and submit a job for each instance that has some."""

    _wanted: list[Wanted]
    _nodes: list[Node]
    _allocators: Sequence[str] = ()
    _jobs: list[OpInstanceCreate]
    _failed: list[str]

    async def expand_names(self) -> None:
        """Their full names; and all nodes, where an allocator is to choose among them."""
        self._refuse_contradictions()
        self._wanted = [Wanted(op, *await new_name(op, self.context.resolve, self.info)) for op in self.op.instances]
        self._refuse_doubles()
        self._nodes = []
        if not is_placed(self.op.instances[0]):
            self._allocators = allocators(self.op.iallocator, await self.config.cluster(), AllocatorMode.MULTI_ALLOCATE)
            self._nodes = await self.config.nodes()

    def _refuse_contradictions(self) -> None:
        """@raise OpPrereqError: one cannot be, or they do not fit together."""
        instances = self.op.instances
        if not instances:
            raise OpPrereqError("no instances are given", ECode.INVAL)
        for op in instances:
            refuse_unavailable(op)
            if op.mode is not InstanceCreateMode.CREATE:
                raise OpPrereqError(
                    f"instance {op.instance_name}: mode {op.mode.value} is not available for many instances at once;"
                    " allowed is create",
                    ECode.INVAL,
                )
            if op.iallocator is not None:
                raise OpPrereqError(
                    f"instance {op.instance_name}: one iallocator chooses for all instances, so none can be given here",
                    ECode.INVAL,
                )
        placed = [op.instance_name for op in instances if is_placed(op)]
        if placed and len(placed) < len(instances):
            raise OpPrereqError(
                f"either all instances are given nodes or none; only these are: {', '.join(placed)}", ECode.INVAL
            )
        if placed and self.op.iallocator is not None:
            raise OpPrereqError(
                f"iallocator {self.op.iallocator} and nodes for the instances exclude each other", ECode.INVAL
            )

    def _refuse_doubles(self) -> None:
        counted = Counter(each.name for each in self._wanted)
        if doubles := sorted(name for name, times in counted.items() if times > 1):
            raise OpPrereqError(f"there is more than one instance of the name {doubles[0]}", ECode.NOTUNIQUE)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """All nodes, for an allocator; and nobody else chooses meanwhile."""
        if not self._allocators:
            return ()
        if level is Level.NODE_ALLOC:
            return [on_allocation(Mode.EXCLUSIVE)]
        if level in OF_NODES and not self.op.opportunistic_locking:
            return on_nodes([node.uuid for node in self._nodes], Mode.SHARED, level)
        return ()

    async def locks_if_free_at(self, level: Level) -> Sequence[LockRequest]:
        """Opportunistically, nodes that nobody uses now."""
        if self._allocators and level in OF_NODES and self.op.opportunistic_locking:
            return on_nodes([node.uuid for node in self._nodes], Mode.EXCLUSIVE, level)
        return ()

    async def check(self) -> None:
        """Each makes sense in itself, and those that an allocator finds room for have nodes."""
        cluster = await self.config.cluster()
        taken = set(await self.config.instance_names())
        plans = []
        for each in self._wanted:
            if each.name in taken and not each.op.commit and self._allocators:
                raise OpPrereqError(f"Instance '{each.name}' is already in the cluster", ECode.EXISTS)
            if not each.op.commit:
                plans.append(await self._plan_of(each, cluster))
        if self._allocators:
            await self._allocate(plans, cluster)
        else:
            self._jobs, self._failed = [each.op for each in self._wanted], []

    async def _plan_of(self, wanted: Wanted, cluster: Cluster) -> CreatePlan:
        op = wanted.op
        check_os(op)
        networks = await named_networks(self.config, op.nics)
        return make_plan(op, cluster, wanted.name, wanted.address, self.context.templates, networks)

    async def _allocate(self, plans: Sequence[CreatePlan], cluster: Cluster) -> None:
        """@raise OpPrereqError: nothing is found. @raise OpExecError: the allocator does not work."""
        allocation = Allocation(
            config=self.config,
            nodes=self.nodes,
            warn=self.warn,
            names=self._allocators,
            template=plans[0].template,
            hypervisor=plans[0].hypervisor,
        )
        among = await self._among()
        asked = [
            await self._request(plan, cluster, wanted.op, among)
            for plan, wanted in zip(plans, self._wanted, strict=True)
        ]
        chosen = await allocation.ask(several(asked))
        for name, homes in chosen.result.nodes.items():
            self._refuse_strangers(chosen.allocator, homes)
            self.info(selected(name, chosen.allocator, homes))
        for name, why in chosen.result.failed.items():
            self.warn(f"no nodes were found for instance {name}" + (f": {why}" if why else ""))
        self._failed = list(chosen.result.failed)
        self._jobs = [
            on_chosen(each.op, chosen.result.nodes[each.name])
            for each in self._wanted
            if each.name in chosen.result.nodes
        ]

    async def _among(self) -> list[str] | None:
        """The names of the nodes that may be chosen. @raise OpPrereqError: none is free for now; None means all."""
        if not self.op.opportunistic_locking:
            return None
        free = await held_nodes(self.context.locks)
        if names := sorted(node.name for node in self._nodes if node.uuid in free):
            return names
        raise OpPrereqError(
            "no node is free to lock; try again later, or without --opportunistic-locking", ECode.TEMP_NORES
        )

    async def _request(
        self, plan: CreatePlan, cluster: Cluster, op: OpInstanceCreate, among: list[str] | None
    ) -> Allocate:
        request = allocate_request(plan, cluster, *await asked_groups(self.config, op.group_name))
        return request if among is None else replace(request, restrict_to_nodes=among)

    def _refuse_strangers(self, allocator: str, homes: Sequence[str]) -> None:
        known = {node.name for node in self._nodes}
        for name in homes:
            if name not in known:
                raise OpExecError(f"iallocator '{allocator}' has chosen {name!r:.200}, which is no node of the cluster")

    def plan(self) -> Plan:
        """The submission."""
        return [PlannedStep(SUBMIT)]

    async def execute(self) -> dict[str, Any]:
        """The jobs; the instances that have one, and those for which no nodes were found."""
        async with self.step(SUBMIT):
            common = {"priority": self.op.priority, "debug_level": self.op.debug_level, "reason": self.op.reason}
            jobs = await self.context.submit_jobs([[replace(op, **common)] for op in self._jobs])
        return {"jobs": jobs, "allocatable": [op.instance_name for op in self._jobs], "failed": self._failed}


def is_placed(op: OpInstanceCreate) -> bool:
    """Whether somebody has said where an instance is to be; one that is committed has its place."""
    return op.pnode is not None or op.pnode_uuid is not None or op.commit


def on_chosen(op: OpInstanceCreate, homes: Sequence[str]) -> OpInstanceCreate:
    """The same on the nodes that were chosen, of which all is known now."""
    secondary = homes[1] if len(homes) > 1 else None
    return replace(op, pnode=homes[0], snode=secondary, opportunistic_locking=False)
