"""To which node an instance goes: to that of its copies, or, where all nodes reach its disks, to a chosen one."""

from collections.abc import Sequence

from attrs import define, field

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import ILocks, LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.allocation import allocators, relocate
from ganeti_tx.logic.disks.new_end import turned
from ganeti_tx.logic.instance.moves.kept import kept_node
from ganeti_tx.logic.instance.moves.move import Move, carried, is_local, is_mirrored, placed
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.wanted_locks import keep_nodes, on_allocation, on_nodes
from ganeti_tx.model.default_allocators import names_for
from ganeti_tx.model.disk_template import Adoption, Mirrored
from ganeti_tx.model.disk_templates import TEMPLATES
from ganeti_tx.model.hypervisors import HYPERVISORS
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_place import OpInstanceFailover, OpInstanceMigrate
from ganeti_tx.model.opcodes.types import AllocatorMode


@define
class Destination:
    """First `find`, then the locks that it asks for, then `decide`.

    @ivar doing, done: what the operation is called: "failovers", "failed over".
    @ivar looks: whether it is only to be found out where the instance is, so that nobody has to choose a node.
    """

    parts: Parts
    locks: ILocks
    op: OpInstanceFailover | OpInstanceMigrate
    doing: str
    done: str
    looks: bool = False
    candidates: Sequence[Node] = field(default=(), init=False)
    #: Nodes of other groups, to which only a node that is given leads.
    elsewhere: Sequence[Node] = field(default=(), init=False)
    #: Which of the two nodes of a mirrored instance keeps its copy, when it goes to a third one.
    kept: Node | None = field(default=None, init=False)
    _node: Node | None = field(default=None, init=False)
    #: Whether an allocator is to choose.
    _chosen_for: bool = field(default=False, init=False)

    async def find(self, view: InstanceView) -> None:
        """The node, or else the allocator that is to choose it.

        @raise OpPrereqError: the disks can be reached from no other node; there is nobody to choose, or there are two.
        """
        self._check_template(view)
        given = self.op.target_node_uuid or self.op.target_node
        if given is not None and self.op.iallocator is not None:
            raise OpPrereqError("Specify either an iallocator (-I), or a target node (-n) but not both", ECode.INVAL)
        self._node = None if given is None else await self.parts.config.node(given)
        if (secondary := self.op.secondary_node_uuid or self.op.secondary_node) is not None:
            self._check_may_keep(view)
            self.kept = kept_node(view, self._node, await self.parts.config.node(secondary))
        if is_mirrored(view):
            self._take_secondary(view)
        elif self._node is None:
            await self._find_candidates(view)
        if self._node is not None:
            self.candidates = [view.primary, *(view.secondaries if self.kept is not None else ()), self._node]

    def _check_template(self, view: InstanceView) -> None:
        with_disks = isinstance(self.op, OpInstanceMigrate) and self.op.copy_disks
        if TEMPLATES[view.disk_template].mirrored is Mirrored.NOT:
            if with_disks:
                self._check_may_copy(view)
                return
            layout = f"Instance's disk layout '{view.disk_template.value}' does not allow {self.doing}"
            if self.looks and copies_disks(view):
                with_them = f"gnt-instance migrate --cleanup --copy-disks {view.instance.name}"
                layout = f"{layout}; after one with --copy-disks: '{with_them}'"
            raise OpPrereqError(layout, ECode.STATE)
        if with_disks:
            raise OpPrereqError(
                f"--copy-disks is for disks that only one node has, not for disk template {view.disk_template.value}; leave it out",
                ECode.INVAL,
            )

    def _check_may_copy(self, view: InstanceView) -> None:
        """@raise OpPrereqError: why its disks cannot go along while it runs."""
        assert isinstance(self.op, OpInstanceMigrate)
        name = view.instance.name
        if not view.disks:
            raise OpPrereqError(f"instance {name} has no disks to copy", ECode.STATE)
        if not copies_disks(view):
            raise OpPrereqError(
                f"hypervisor {view.instance.hypervisor.value} cannot take the disks of instance {name} along while it runs;"
                " 'gnt-instance move' stops it first",
                ECode.STATE,
            )
        if self.looks:
            return
        if (self.op.target_node_uuid or self.op.target_node) is None or self.op.iallocator is not None:
            raise OpPrereqError("--copy-disks goes with a target node (-n), not with an iallocator (-I)", ECode.INVAL)
        if self.op.allow_failover:
            raise OpPrereqError(
                "--copy-disks does not go with --allow-failover: what does not run is brought elsewhere by 'gnt-instance move'",
                ECode.INVAL,
            )
        for index, disk in enumerate(view.disks):
            if disk.mode != "rw":
                raise OpPrereqError(f"disk/{index} is read-only, and cannot be copied while it is in use", ECode.STATE)
            if (
                TEMPLATES[disk.dev_type].mirrored is not Mirrored.NOT
                or TEMPLATES[disk.dev_type].adoption is Adoption.ALWAYS
            ):
                raise OpPrereqError(
                    f"Instance disk {index} has disk type {disk.dev_type.value} and is not suitable for copying",
                    ECode.STATE,
                )

    def _check_may_keep(self, view: InstanceView) -> None:
        if not is_mirrored(view):
            raise OpPrereqError(
                f"Instances with disk template {view.disk_template.value} have no secondary node, so none can be given",
                ECode.INVAL,
            )
        if self.op.iallocator is not None or self.looks:
            other = "a clean-up" if self.looks else "an iallocator (-I)"
            raise OpPrereqError(f"A secondary node goes with a target node (-n), not with {other}", ECode.INVAL)

    def _take_secondary(self, view: InstanceView) -> None:
        """@raise OpPrereqError: another node was asked for without saying who keeps a copy, or there is none."""
        if not view.secondaries:
            raise OpPrereqError(f"instance {view.instance.name} has no secondary node", ECode.STATE)
        [secondary] = view.secondaries[:1]
        if self.kept is not None:
            return
        if self.op.iallocator is not None or self._node not in (None, secondary):
            raise OpPrereqError(
                f"Instances with disk template {view.disk_template.value} cannot be {self.done} to arbitrary nodes"
                f" (neither an iallocator nor a target node can be passed); the secondary node is {secondary.name}, and for"
                f" another one --secondary-node says which of {view.primary.name} and {secondary.name} keeps its copy",
                ECode.INVAL,
            )
        self._node = secondary

    async def _find_candidates(self, view: InstanceView) -> None:
        cluster = await self.parts.config.cluster()
        if not self.looks:
            if self.op.iallocator is None and not names_for(cluster.default_iallocator, AllocatorMode.RELOCATE):
                raise OpPrereqError(
                    "No iallocator or node given and no cluster-wide default iallocator found; please specify either an"
                    " iallocator or a node, or set a cluster-wide default iallocator",
                    ECode.INVAL,
                )
            allocators(self.op.iallocator, cluster, AllocatorMode.RELOCATE)
            self._chosen_for = True
        nodes = await self.parts.config.nodes()
        self.candidates = [node for node in nodes if node.group == view.primary.group]
        self.elsewhere = [node for node in nodes if node.group != view.primary.group and node.vm_capable]

    @property
    def named(self) -> Node | None:
        """The node that was asked for, if one was."""
        return None if self._chosen_for else self._node

    def locks_at(self, level: Level, mode: Mode = Mode.SHARED) -> Sequence[LockRequest]:
        """Both nodes, or all that an allocator may choose among; and no other allocator may choose meanwhile."""
        if level is Level.NODE_ALLOC:
            return [on_allocation(Mode.EXCLUSIVE if self._chosen_for else Mode.SHARED)]
        return on_nodes([node.uuid for node in self.candidates], mode, level)

    async def decide(self, view: InstanceView) -> Move:
        """The move, under the locks; locks of other nodes are let go.

        @raise OpPrereqError: it is there already, or an allocator finds no node. @raise OpExecError: that does not work.
        """
        if self._chosen_for:
            self._node = await relocate(self.parts, self.op.iallocator, view, [view.primary])
            await keep_nodes(self.locks, [view.primary.uuid, self._node.uuid], others_may_choose=False)
        assert self._node is not None
        node = await self.parts.config.node(self._node.uuid)
        if node.uuid == view.primary.uuid:
            raise OpPrereqError(
                f"Cannot migrate instance {view.instance.name} to its primary ({node.name})", ECode.STATE
            )
        group = await self.parts.config.group(node.group)
        if self.kept is None:
            after = placed(view, node, group)
            return Move(view, carried(after) if is_local(view) else after)
        [leaving] = [each for each in (view.primary, *view.secondaries) if each.uuid != self.kept.uuid]
        return Move(view, placed(await turned(self.parts.config, view, leaving, node, group), node, group))


def copies_disks(view: InstanceView) -> bool:
    """Whether the hypervisor can take the instance's disks along while it runs."""
    return HYPERVISORS[view.instance.hypervisor].copies_disks
