"""Replacing what mirrored disks lie on: the volumes on one of their two nodes, or the second node."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.allocation import allocators, relocate
from ganeti_tx.logic.disks.health import lost_on, named
from ganeti_tx.logic.disks.new_end import turned
from ganeti_tx.logic.disks.new_secondary import NewSecondary
from ganeti_tx.logic.disks.new_volumes import NewVolumes
from ganeti_tx.logic.disks.replacing import Replacing
from ganeti_tx.logic.disks.secondary_choice import check_new_secondary
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan
from ganeti_tx.logic.wanted_locks import keep_nodes, on_allocation, on_nodes
from ganeti_tx.model.disk_template import Mirrored
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_disks import OpInstanceReplaceDisks
from ganeti_tx.model.opcodes.types import AllocatorMode, ReplaceDisksMode


class Work(Protocol):
    """One way of replacing."""

    def plan(self) -> Plan:
        """Its steps."""

    async def run(self) -> None:
        """Take them."""


class LUInstanceReplaceDisks(InstanceUnit[OpInstanceReplaceDisks]):
    """Find out what is to be replaced where, and have it done while the instance may run."""

    hook = Hook("mirrors-replace", HookObject.INSTANCE, asked={"MODE": "mode"})

    _new: Node | None = None
    _candidates: Sequence[Node] = ()
    _old: Node
    _work: Work | None = None

    async def expand_names(self) -> None:
        """The instance, and the node that is given, or those among which an allocator may choose."""
        await super().expand_names()
        view = await self.config.instance_view(self._named.uuid)
        given = self.op.remote_node_uuid or self.op.remote_node
        if self.op.mode is not ReplaceDisksMode.NEW_SECONDARY:
            if given is not None or self.op.iallocator is not None:
                raise OpPrereqError(
                    "The iallocator and new node options can only be used when changing the secondary node",
                    ECode.INVAL,
                )
            return
        if given is not None and self.op.iallocator is not None:
            raise OpPrereqError("Give either the iallocator or the new secondary, not both", ECode.INVAL)
        if given is not None:
            self._new = await self.config.node(given)
            self._candidates = [self._new]
            return
        allocators(self.op.iallocator, await self.config.cluster(), AllocatorMode.RELOCATE)
        self._candidates = [node for node in await self.config.nodes() if node.group == view.primary.group]

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The instance; its nodes, and those to which it may go."""
        if level is Level.NODE_ALLOC and self._chosen_for:
            return [on_allocation(Mode.EXCLUSIVE)]
        if level is Level.NODE:
            own = (await self.config.instance_view(self._named.uuid)).nodes
            return on_nodes([*own, *(node.uuid for node in self._candidates)], Mode.SHARED)
        return await super().locks_at(level)

    @property
    def _chosen_for(self) -> bool:
        return self.op.mode is ReplaceDisksMode.NEW_SECONDARY and self._new is None

    async def check(self) -> None:
        """The disks are mirrored; what is to be replaced is known, and the other copy of it is good."""
        await super().check()
        count = len(self.target.secondaries)
        mirrored = all(disk.template.mirrored is Mirrored.INTERNALLY for disk in self.target.disks)
        if count != 1 or not mirrored:
            raise OpPrereqError(
                f"The instance has a strange layout, expected one secondary but found {count}", ECode.FAULT
            )
        self._old = self.target.secondaries[0]
        indices = self._indices()
        if self.op.mode is ReplaceDisksMode.NEW_SECONDARY:
            self._work = await self._new_secondary()
        elif self.op.mode is ReplaceDisksMode.AUTO:
            self._work = await self._repair()
        else:
            on_primary = self.op.mode is ReplaceDisksMode.ON_PRIMARY
            self._work = await self._new_volumes(self.target.primary if on_primary else self._old, indices)

    async def hook_values(self) -> Mapping[str, object]:
        """The instance; where its second copies were, and where they are to be."""
        new = self._new or self._old
        return {**await super().hook_values(), "NEW_SECONDARY": new.name, "OLD_SECONDARY": self._old.name}

    async def object_nodes(self) -> Sequence[Node]:
        """The primary node, and the new second one, if there is one."""
        return [self.target.primary, *([self._new] if self._new is not None else [])]

    def _indices(self) -> list[int]:
        """Those that are asked for; all, if none are."""
        all_of_them = list(range(len(self.target.disks)))
        if not self.op.disks:
            return all_of_them
        if self.op.mode in (ReplaceDisksMode.AUTO, ReplaceDisksMode.NEW_SECONDARY):
            raise OpPrereqError(f"Mode {self.op.mode.value} takes all disks; do not name any", ECode.INVAL)
        if twice := sorted(index for index, count in Counter(self.op.disks).items() if count > 1):
            raise OpPrereqError(f"disks are named twice: {', '.join(map(str, twice))}", ECode.INVAL)
        for index in self.op.disks:
            if index not in all_of_them:
                raise OpPrereqError(
                    f"Invalid disk index: {index} (instance has disks 0 to {len(all_of_them) - 1})", ECode.INVAL
                )
        return sorted(self.op.disks)

    def _replacing(self, indices: Sequence[int]) -> Replacing:
        return Replacing(self, self.context, self.target, indices, self.op.early_release)

    async def _new_secondary(self) -> Work:
        if self._new is None:
            self._new = await relocate(self, self.op.iallocator, self.target, self.target.secondaries)
            await keep_nodes(self.context.locks, [*self.target.nodes, self._new.uuid], others_may_choose=False)
        node = await self.config.node(self._new.uuid)
        group = await self.config.group(node.group)
        await check_new_secondary(self, self.target, node, group, ignore_policy=self.op.ignore_ipolicy)
        view = await turned(self.config, self.target, self._old, node, group)
        work = NewSecondary(self._replacing(range(len(self.target.disks))), node, view)
        await work.check()
        return work

    async def _new_volumes(self, node: Node, indices: Sequence[int]) -> Work:
        work = NewVolumes(self._replacing(indices), node)
        await work.check()
        return work

    async def _repair(self) -> Work | None:
        everything = range(len(self.target.disks))
        both = (self.target.primary, self._old)
        lost = {node.name: await lost_on(self.nodes, self.target, node, everything) for node in both}
        broken = [node for node in both if lost[node.name]]
        if len(broken) == 2:
            told = "; ".join(f"{named(lost[node.name])} on {node.name}" for node in broken)
            raise OpPrereqError(
                f"Instance '{self.instance.name}' has faulty disks on both its nodes ({told}), so which to replace"
                " cannot be told automatically; see to one node, or recreate the disks",
                ECode.STATE,
            )
        return await self._new_volumes(broken[0], lost[broken[0].name]) if broken else None

    def plan(self) -> Plan:
        """See `NewVolumes` and `NewSecondary`."""
        return self._work.plan() if self._work is not None else ()

    async def execute(self) -> None:
        """Do it, if there is anything to do."""
        if self._work is None:
            self.info(f"No disks need replacement for instance '{self.instance.name}'")
            return
        await self._work.run()
