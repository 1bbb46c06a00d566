"""Mending a volume group of a node."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.disks.health import lost_on, named, not_good_on, parts_lost_on
from ganeti_tx.logic.disks.lost_parts import LostParts, lost_parts
from ganeti_tx.logic.node.storage_type import check_enabled
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask, check_online
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_all, on_nodes
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpRepairNodeStorage
from ganeti_tx.model.storage_unit import MENDED, VOLUME_GROUP
from ganeti_tx.rpc.calls.node import NodeVerify
from ganeti_tx.rpc.calls.storage import StorageExecute

DROP, MEND = "remove what is lost of disks", "mend the storage unit"


class LURepairNodeStorage(LogicalUnit[OpRepairNodeStorage]):
    """Have a node forget what it lost for good, if it alone is broken and every disk has a good copy (design-2.1).

    No new copy can be made there as long as the unit lacks something, and it does as long as parts of disks lie on that: these go.
    """

    _node: Node
    _unit: str
    _lost: Sequence[LostParts] = ()

    async def expand_names(self) -> None:
        """The node, and what can be mended at all."""
        self._node = await self.config.node(self.op.node_uuid or self.op.node_name)
        if self.op.storage_type not in MENDED:
            raise OpPrereqError(
                f"Storage units of type '{self.op.storage_type.value}' can not be repaired; those that can:"
                f" {', '.join(each.value for each in MENDED)}",
                ECode.INVAL,
            )
        if self.op.name is None:
            raise OpPrereqError("Which storage unit is to be repaired? Give its name", ECode.INVAL)
        self._unit = self.op.name

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The node's; instances do not move meanwhile."""
        if level is Level.INSTANCE:
            return [on_all(level)]
        return on_nodes([self._node.uuid], Mode.EXCLUSIVE) if level is Level.NODE else ()

    async def check(self) -> None:
        """The node alone is broken, and the other copies are good.

        @raise OpPrereqError: another one that has its instances is, too, or this is the last good copy of some disk.
        """
        self._node = await self.config.node(self._node.uuid)
        check_online(self._node, "repair storage of it")
        check_enabled(self.op.storage_type, await self.config.cluster())
        views = [view for view in (await self.config.instance_views()).each() if self._has(view)]
        for other in {node.uuid: node for view in views for node in self._others(view)}.values():
            await self._check_whole(other)
        lost: list[LostParts] = []
        for view in views:
            lost += (here := await lost_parts(self.nodes, view, self._node, self.op.storage_type, self._unit))
            if others := self._others(view):
                await self._check_others(view, others)
                self._check_ready(view, here)
            else:
                await self._check_here(view)
        self._lost = lost

    def _has(self, view: InstanceView) -> bool:
        """Whether an instance has disks on the node, in such units."""
        mine = self._node.uuid in (view.primary.uuid, *(node.uuid for node in view.secondaries))
        parts = [part for disk in view.disks for part in (disk, *disk.children)]
        return mine and not view.instance.forthcoming and any(each.template.storage in MENDED for each in parts)

    def _others(self, view: InstanceView) -> list[Node]:
        return [node for node in (view.primary, *view.secondaries) if node.uuid != self._node.uuid]

    async def _check_whole(self, other: Node) -> None:
        """Nothing is wrong with the volume group of a node that has the other copies."""
        cluster = await self.config.cluster()
        if other.offline:
            return  # its copies count as bad
        call = NodeVerify(checks={VOLUME_GROUP: cluster.volume_group_name}, cluster_name=cluster.cluster_name)
        told = await ask(self.nodes, other, call, ECode.ENVIRON)
        fault = told.get(VOLUME_GROUP) or told.failed(VOLUME_GROUP)
        if fault is not None:
            self._refuse(f"node '{other.name}', which has the other copies, is broken, too: {fault}")

    async def _check_others(self, view: InstanceView, others: Sequence[Node]) -> None:
        """The copies on other nodes are good; of disks that are not ready the volumes are at least there."""
        indices = list(range(len(view.disks)))
        for other in others:
            looked = not_good_on if view.instance.disks_active else parts_lost_on
            bad = indices if other.offline else await looked(self.nodes, view, other, indices)
            if bad:
                self._refuse(
                    f"Instance '{view.instance.name}' has faulty disks on node '{other.name}': {named(bad)}; repair"
                    " these first, with 'gnt-instance replace-disks'"
                )

    def _check_ready(self, view: InstanceView, lost: Sequence[LostParts]) -> None:
        """What is to be removed is of disks that are ready: of others nobody knows which copy is the newer one."""
        if lost and not view.instance.disks_active:
            self._refuse(
                f"Instance '{view.instance.name}' has lost its copy of {named([each.disk.index for each in lost])} on node"
                f" '{self._node.name}', and whether the other one is good is seen only while it runs; start it with"
                f" 'gnt-instance startup --force {view.instance.name}'"
            )

    async def _check_here(self, view: InstanceView) -> None:
        """There is no other copy, so that nothing of it may be lost."""
        bad = await lost_on(self.nodes, view, self._node, list(range(len(view.disks))))
        if bad:
            self._refuse(
                f"Instance '{view.instance.name}' has lost its only copy of {named(bad)} on node '{self._node.name}';"
                " remove it; or have --ignore-consistency give up these disks, to be made anew by 'gnt-instance recreate-disks'"
            )

    def _refuse(self, text: str) -> None:
        if not self.op.ignore_consistency:
            raise OpPrereqError(text, ECode.STATE)
        self.warn(text)

    def plan(self) -> Plan:
        """What is lost goes first, if there is anything."""
        here = (self._node.name,)
        drop = [PlannedStep(DROP, here, tuple(each.name for each in self._lost))] if self._lost else []
        return [*drop, PlannedStep(MEND, here, (f"storage unit {self._unit}",))]

    async def execute(self) -> None:
        """Have it done."""
        self.info(f"Repairing storage unit '{self._unit}' on {self._node.name} ...")
        if self._lost:
            async with self.step(DROP):
                await self._drop()
        call = StorageExecute(
            storage_type=self.op.storage_type.value, unit=self._unit, operation=MENDED[self.op.storage_type]
        )
        async with self.step(MEND):
            await self.nodes.call(self._node, call)

    async def _drop(self) -> None:
        """@raise RpcError: the node cannot; what is gone is lost in any case."""
        for each in self._lost:
            await each.drop(self.nodes)
            instance = each.view.instance.name
            anew = f"replace-disks -a {instance}" if each.is_mirrored else f"recreate-disks {instance}"
            self.warn(f"{each.name} has no copy on {self._node.name} any more; 'gnt-instance {anew}' makes a new one")
