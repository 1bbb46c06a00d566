"""Migrating all primary instances of a node, each by a job of its own."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_place import OpInstanceMigrate
from ganeti_tx.model.opcodes.node import OpNodeMigrate

SUBMIT = "submit the jobs that migrate its instances"


class LUNodeMigrate(LogicalUnit[OpNodeMigrate]):
    """The jobs look for themselves what they may do; one that may not go fails alone."""

    hook = Hook(
        "node-migrate",
        HookObject.NODE,
        HookNodes.MASTER,
        HookNodes.MASTER,
        asked={"ALLOW_RUNTIME_CHANGES": "allow_runtime_changes"},
    )

    _node: Node
    _names: list[str]

    async def expand_names(self) -> None:
        """The node, and that to which its instances go."""
        if self.op.live is not None and self.op.mode is not None:
            raise OpPrereqError("Only one of the 'live' and 'mode' parameters are accepted", ECode.INVAL)
        self._node = await self.config.node(self.op.node_uuid or self.op.node_name)
        if (target := self.op.target_node_uuid or self.op.target_node) is not None:
            if self.op.iallocator is not None:
                raise OpPrereqError(
                    "Specify either an iallocator (-I), or a target node (-n) but not both", ECode.INVAL
                )
            await self.config.node(target)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The node's."""
        return on_nodes([self._node.uuid], Mode.SHARED) if level is Level.NODE else ()

    async def check(self) -> None:
        """Which instances there are."""
        views = (await self.config.instance_views()).each()
        self._names = sorted(view.instance.name for view in views if view.primary.uuid == self._node.uuid)

    async def hook_values(self) -> dict[str, object]:
        """The node."""
        return {**await super().hook_values(), "NODE_NAME": self._node.name}

    def plan(self) -> Plan:
        """They are submitted together."""
        return [PlannedStep(SUBMIT, (), tuple(f"instance {name}" for name in self._names))]

    async def execute(self) -> dict[str, Any]:
        """Gives the jobs."""
        async with self.step(SUBMIT):
            return {"jobs": await self.context.submit_jobs([[self._op(name)] for name in self._names])}

    def _op(self, name: str) -> OpInstanceMigrate:
        return OpInstanceMigrate(
            instance_name=name,
            mode=self.op.mode,
            live=self.op.live,
            target_node=self.op.target_node_uuid or self.op.target_node,
            iallocator=self.op.iallocator,
            allow_runtime_changes=self.op.allow_runtime_changes,
            ignore_ipolicy=self.op.ignore_ipolicy,
        )
