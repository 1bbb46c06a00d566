"""Moving nodes to a group."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.disks.exclusive import check_alike
from ganeti_tx.logic.group.on_group import on_groups
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.nodegroup import NodeGroup
from ganeti_tx.model.opcodes import OpGroupAssignNodes

MOVE = "move the nodes to the group"


class LUGroupAssignNodes(LogicalUnit[OpGroupAssignNodes]):
    """Move nodes to a group, all in one change.

    It is refused, unless forced, when instances would then be in two groups, or be cut off from their networks.
    """

    _group: NodeGroup
    _nodes: list[Node]

    async def expand_names(self) -> None:
        """Which group and which nodes."""
        self._group = await self.config.group(self.op.group_name)
        wanted = self.op.node_uuids or self.op.nodes
        if not wanted:
            raise OpPrereqError(f"no nodes were given that are to be moved to group {self._group.name}", ECode.INVAL)
        self._nodes = list({node.uuid: node for node in await self.config.nodes(wanted)}.values())

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The nodes, and all groups that gain or lose some."""
        if level is Level.NODEGROUP:
            return on_groups(self._group.uuid, *(node.group for node in self._nodes))
        return on_nodes([node.uuid for node in self._nodes], Mode.EXCLUSIVE) if level is Level.NODE else ()

    async def check(self) -> None:
        """No instance is torn apart or cut off, unless that is wanted; the locks are those of the groups the nodes are in."""
        locked = {self._group.uuid, *(node.group for node in self._nodes)}
        self._group = await self.config.group(self._group.uuid)
        self._nodes = await self.config.nodes([node.uuid for node in self._nodes])
        for node in self._nodes:
            if node.group not in locked:
                raise OpPrereqError(f"node {node.name} was moved to another group meanwhile; try again", ECode.STATE)
        self._nodes = [node for node in self._nodes if node.group != self._group.uuid]
        able = [node for node in self._nodes if node.vm_capable and not node.offline]
        await check_alike(self, await self.config.cluster(), self._group, await self.config.nodes(), able)
        views = (await self.config.instance_views()).each()
        self._check_splits(views)
        self._check_networks(views)

    def _check_splits(self, views: Sequence[InstanceView]) -> None:
        moved = {node.uuid: self._group.uuid for node in self._nodes}
        before, after = split(views, {}), split(views, moved)
        still = [name for name in after if name in before]
        self._unless_forced(
            [name for name in after if name not in before],
            "The following instances get split by this change and --force was not given",
            "This operation will split the following instances",
        )
        if still:
            self.warn(
                f"In addition, these already-split instances continue to be split across groups: {', '.join(still)}"
            )

    def _check_networks(self, views: Sequence[InstanceView]) -> None:
        moved = {node.uuid for node in self._nodes}
        fault = f"The following instances have NICs in networks that group {self._group.name} is not connected to"
        self._unless_forced(
            [
                view.instance.name
                for view in views
                if view.instance.primary_node in moved and not view.networks.keys() <= self._group.networks.keys()
            ],
            f"{fault}, and --force was not given",
            fault,
        )

    def _unless_forced(self, names: Sequence[str], refusal: str, warning: str) -> None:
        """@raise OpPrereqError: wrong_state, something is wrong with some instances, and that is not wanted."""
        if not names:
            return
        if not self.op.force:
            raise OpPrereqError(f"{refusal}: {', '.join(names)}", ECode.STATE)
        self.warn(f"{warning}: {', '.join(names)}")

    def plan(self) -> Plan:
        """One change; none when they are all there."""
        if not self._nodes:
            return ()
        return [
            PlannedStep(MOVE, (), (f"node group {self._group.name}", *(f"node {node.name}" for node in self._nodes)))
        ]

    async def execute(self) -> None:
        """Move them."""
        if not self._nodes:
            return
        async with self.step(MOVE):
            await self.config.change_nodes([replace(node, group=self._group.uuid) for node in self._nodes], {})


def split(views: Sequence[InstanceView], moved: Mapping[str, str]) -> list[str]:
    """The instances whose nodes are in several groups, once some nodes (uuids) have been moved to others."""
    return [
        view.instance.name
        for view in views
        if len({moved.get(node.uuid, node.group) for node in (view.primary, *view.secondaries)}) > 1
    ]
