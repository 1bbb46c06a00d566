"""Where a new instance will be: on the nodes that are given, or on those that an allocator chooses."""

from collections.abc import Mapping, Sequence

from attrs import define, field

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.locking.interfaces import ILocks, LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.allocation import Allocation, Chosen, allocators, ask_among, selected
from ganeti_tx.logic.disks.plan import template_of
from ganeti_tx.logic.instance.create_plan import CreatePlan, allocate_request
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.wanted_locks import OF_NODES, held_nodes, keep_nodes, on_allocation, on_nodes
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.model.default_allocators import names_for
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate
from ganeti_tx.model.opcodes.types import AllocatorMode


@define
class Placement:
    """An allocator chooses among the nodes of the group that is named, or else of the cluster's default group.

    First `find`, then the locks that it asks for, then `decide` and `read`; from then on the nodes are known.
    """

    parts: Parts
    locks: ILocks
    op: OpInstanceCreate
    primary: Node = field(init=False)
    secondary: Node | None = field(default=None, init=False)
    group: NodeGroup = field(init=False)
    #: The allocators that are to choose, the first one first.
    _allocators: Sequence[str] = field(default=(), init=False)
    _candidates: Sequence[Node] = field(default=(), init=False)

    @property
    def homes(self) -> list[Node]:
        """The nodes that it will be on, the primary one first."""
        return [node for node in (self.primary, self.secondary) if node is not None]

    async def find(self) -> None:
        """The nodes that are given, or else the allocator that is to choose them.

        @raise OpPrereqError: there is neither, or there are both.
        """
        wanted = self.op.pnode_uuid or self.op.pnode
        if wanted is None:
            await self._find_allocator()
            return
        if self.op.iallocator is not None:
            raise OpPrereqError(
                f"Do not specify both, iallocator and node: {self.op.iallocator} and {wanted}", ECode.INVAL
            )
        if self.op.opportunistic_locking:
            raise OpPrereqError(
                f"opportunistic_locking goes with an iallocator only, but node {wanted} is given", ECode.INVAL
            )
        self.primary = await self.parts.config.node(wanted)
        self.secondary = await self._find_secondary()
        self._candidates = self.homes

    async def _find_secondary(self) -> Node | None:
        """The node of the second copies, where disks are mirrored; else one that was given is ignored."""
        wanted = self.op.snode_uuid or self.op.snode
        mirrored = TEMPLATES[template_of(self.op, await self.parts.config.cluster())].secondaries > 0
        if wanted is not None and not mirrored:
            self.parts.warn("Secondary node will be ignored on non-mirrored disk template")
        return await self.parts.config.node(wanted) if wanted is not None and mirrored else None

    async def _find_allocator(self) -> None:
        cluster = await self.parts.config.cluster()
        if self.op.iallocator is None and not names_for(cluster.default_iallocator, AllocatorMode.ALLOCATE):
            raise OpPrereqError(
                "No iallocator or node given and no cluster-wide default iallocator found; please specify either an"
                " iallocator or a node, or set a cluster-wide default iallocator",
                ECode.INVAL,
            )
        self._allocators = allocators(self.op.iallocator, cluster, AllocatorMode.ALLOCATE)
        self.group = await self.parts.config.group(self.op.group_name or cluster.default_group)
        self._candidates = [node for node in await self.parts.config.nodes() if node.group == self.group.uuid]
        if not self._candidates:
            raise OpPrereqError(f"node group {self.group.name} has no nodes that an instance could be on", ECode.NORES)

    def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Its nodes, with others. An allocator sees all nodes of a group, and no other one what it has not taken yet."""
        if level is Level.NODE_ALLOC:
            return [on_allocation(Mode.EXCLUSIVE if self._allocators else Mode.SHARED)]
        if level in OF_NODES and not self.op.opportunistic_locking:
            return on_nodes([node.uuid for node in self._candidates], Mode.SHARED, level)
        return ()

    def locks_if_free_at(self, level: Level) -> Sequence[LockRequest]:
        """Opportunistically, nodes that nobody uses now; nobody else does until the instance is there."""
        if level in OF_NODES and self.op.opportunistic_locking:
            return on_nodes([node.uuid for node in self._candidates], Mode.EXCLUSIVE, level)
        return ()

    async def decide(self, plan: CreatePlan, cluster: Cluster) -> None:
        """Have the allocator choose the nodes, if there is one, and let go of the others.

        @raise OpPrereqError: it finds none. @raise OpExecError: it does not work.
        """
        if not self._allocators:
            return
        chosen = await self._ask(plan, cluster)
        self.primary, self.secondary = chosen[0], chosen[1] if len(chosen) > 1 else None
        await keep_nodes(self.locks, [node.uuid for node in chosen], others_may_choose=self.op.opportunistic_locking)

    async def _ask(self, plan: CreatePlan, cluster: Cluster) -> list[Node]:
        allocation = Allocation(
            config=self.parts.config,
            nodes=self.parts.nodes,
            warn=self.parts.warn,
            names=self._allocators,
            template=plan.template,
            hypervisor=plan.hypervisor,
            group=self.group.uuid,
        )
        request = allocate_request(plan, cluster, [self.group], None if self.op.group_name is None else self.group.name)
        known = {node.name: node for node in self._candidates}
        if self.op.opportunistic_locking:
            free = await held_nodes(self.locks)
            known = {node.name: node for node in self._candidates if node.uuid in free}
            chosen = await ask_among(allocation, request, sorted(known))
        else:
            chosen = await allocation.ask(request)
        return self._known(plan.name, chosen, known)

    def _known(self, instance: str, chosen: Chosen[list[str]], known: Mapping[str, Node]) -> list[Node]:
        for name in chosen.result:
            if name not in known:
                raise OpExecError(
                    f"iallocator '{chosen.allocator}' has chosen {name!r:.200}, which is no node that it could choose"
                )
        self.parts.info(selected(instance, chosen.allocator, chosen.result))
        return [known[name] for name in chosen.result]

    async def read(self) -> None:
        """The nodes again, under their locks, and the group of the primary one."""
        config = self.parts.config
        self.primary = await config.node(self.primary.uuid)
        self.group = await config.group(self.primary.group)
        if self.secondary is not None:
            self.secondary = await config.node(self.secondary.uuid)

    async def check_group(self) -> None:
        """@raise OpPrereqError: another group was asked for than the node's, or its nodes are in two."""
        if self.secondary is not None and self.secondary.group != self.primary.group:
            other = (await self.parts.config.group(self.secondary.group)).name
            raise OpPrereqError(
                f"node {self.primary.name} is in group {self.group.name} and node {self.secondary.name} in {other}, but"
                " an instance can be in one group only",
                ECode.INVAL,
            )
        if self.op.group_name is None:
            return
        wanted = await self.parts.config.group(self.op.group_name)
        if wanted.uuid != self.primary.group:
            raise OpPrereqError(
                f"node {self.primary.name} is in group {self.group.name}, not in {wanted.name}", ECode.INVAL
            )
