"""Bringing instances away from a node."""

from collections.abc import Sequence

from ganeti_tx.allocator.requests import NodeEvacuate
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.allocation import allocators
from ganeti_tx.logic.evacuation import EvacuationJobs, Jobs, to_secondary
from ganeti_tx.logic.evacuation_unit import EvacuationUnit
from ganeti_tx.logic.questions import check_takes_instances
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.node import OpNodeEvacuate
from ganeti_tx.model.opcodes.types import AllocatorMode, EvacuationMode


class LUNodeEvacuate(EvacuationUnit[OpNodeEvacuate]):
    """Submit a job for each instance that runs on a node, or has its second copies there: where to, an allocator finds;
    of the second copies one may be told.
    """

    _node: Node
    #: The new node of second copies, where it was told.
    _remote: Node | None = None

    async def expand_names(self) -> None:
        """The node, and where to."""
        self._node = await self.config.node(self.op.node_uuid or self.op.node_name)
        given = self.op.remote_node_uuid or self.op.remote_node
        if given is not None:
            self._remote = await self.config.node(given)
            self._check_remote_mode(self._remote)
        else:
            allocators(self.op.iallocator, await self.config.cluster(), AllocatorMode.NODE_EVACUATE)
            self._check_allocator_mode()
        await super().expand_names()

    def _check_remote_mode(self, remote: Node) -> None:
        if self.op.iallocator is not None:
            raise OpPrereqError(
                f"iallocator {self.op.iallocator} and node {remote.name} exclude each other", ECode.INVAL
            )
        if self.op.mode is not EvacuationMode.SECONDARY_ONLY:
            raise OpPrereqError(
                f"a new secondary node can be given for mode {EvacuationMode.SECONDARY_ONLY.value} only, not for"
                f" {self.op.mode.value}; an iallocator finds nodes for the others",
                ECode.INVAL,
            )
        if remote.uuid == self._node.uuid:
            raise OpPrereqError(f"node {remote.name} is the node to be evacuated; give another one", ECode.INVAL)

    def _check_allocator_mode(self) -> None:
        if self.op.mode is EvacuationMode.ALL:
            raise OpPrereqError(
                "Due to an issue with the iallocator interface it is not possible to evacuate all instances at once;"
                " specify explicitly whether to evacuate primary or secondary instances",
                ECode.INVAL,
            )

    async def concerned(self) -> list[InstanceView]:
        """Those that run there; or those that have their second copies there."""
        views = (await self.config.instance_views()).each()
        if self.op.mode is EvacuationMode.PRIMARY_ONLY:
            return [view for view in views if view.primary.uuid == self._node.uuid]
        return [view for view in views if any(node.uuid == self._node.uuid for node in view.secondaries)]

    async def groups(self) -> Sequence[str]:
        """The node's, and that of the one that was told."""
        return sorted({node.group for node in (self._node, self._remote) if node is not None})

    async def check(self) -> None:
        """The node that was told can have them."""
        self._node = await self.config.node(self._node.uuid)
        await super().check()
        if self._remote is None:
            return
        self._remote = await self.config.node(self._remote.uuid)
        check_takes_instances(self._remote)
        there = [view.instance.name for view in self.views if view.primary.uuid == self._remote.uuid]
        if there:
            raise OpPrereqError(
                f"node {self._remote.name} cannot be the secondary node of instances that it is the primary node of: "
                + ", ".join(there),
                ECode.INVAL,
            )
        if self._remote.group != self._node.group:
            raise OpPrereqError(
                f"node {self._remote.name} is in another group than node {self._node.name}", ECode.INVAL
            )

    async def jobs(self) -> Jobs:
        """One for each, as an allocator puts them, or for the node that was told."""
        names = [view.instance.name for view in self.views]
        self.info(f"- INFO: Evacuating instances from node '{self._node.name}': {', '.join(names)}")
        if self._remote is not None:
            return to_secondary(self.views, self._remote, self.op.early_release, self.op.priority)
        evacuation = EvacuationJobs(
            self, self.op.iallocator, [self._node.group], self.op.early_release, self.op.priority
        )
        options = {"ignore-soft-errors": None} if self.op.ignore_soft_errors else {}
        return await evacuation.find(self.views, NodeEvacuate(instances=names, evac_mode=self.op.mode.value), options)
