"""Mending a volume group of a node."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.disks.health import named, not_good_on
from ganeti_tx.logic.node.storage_type import check_enabled
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_all, on_nodes
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpRepairNodeStorage
from ganeti_tx.model.storage_unit import MENDED
from ganeti_tx.rpc.calls.storage import StorageExecute

MEND = "mend the storage unit"


class LURepairNodeStorage(LogicalUnit[OpRepairNodeStorage]):
    """Have a node forget what it lost for good, if every mirrored disk has a good copy elsewhere."""

    _node: Node
    _unit: str

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
        """The other copies are good. @raise OpPrereqError: this is the last good one of some disk."""
        self._node = await self.config.node(self._node.uuid)
        check_online(self._node, "repair storage of it")
        check_enabled(self.op.storage_type, await self.config.cluster())
        for view in (await self.config.instance_views()).each():
            if view.instance.disks_active and self._node in (view.primary, *view.secondaries):
                await self._check_others(view)

    async def _check_others(self, view: InstanceView) -> None:
        indices = range(len(view.disks))
        for other in (view.primary, *view.secondaries):
            if other.uuid == self._node.uuid:
                continue
            bad = list(indices) if other.offline else await not_good_on(self.nodes, view, other, list(indices))
            if bad:
                text = (
                    f"Instance '{view.instance.name}' has faulty disks on node '{other.name}': {named(bad)}; repair"
                    " these first, with 'gnt-instance replace-disks'"
                )
                if not self.op.ignore_consistency:
                    raise OpPrereqError(text, ECode.STATE)
                self.warn(text)

    def plan(self) -> Plan:
        """One call."""
        return [PlannedStep(MEND, (self._node.name,), (f"storage unit {self._unit}",))]

    async def execute(self) -> None:
        """Have it done."""
        self.info(f"Repairing storage unit '{self._unit}' on {self._node.name} ...")
        call = StorageExecute(
            storage_type=self.op.storage_type.value, unit=self._unit, operation=MENDED[self.op.storage_type]
        )
        async with self.step(MEND):
            await self.nodes.call(self._node, call)
