"""What all ways of replacing disks have in common: disks made ready before, the wait for the new copy, and the old one's end."""

from collections.abc import Iterator, Sequence

from attrs import define

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic import left_volumes
from ganeti_tx.logic.disks.health import named, not_good_on
from ganeti_tx.logic.disks.on_nodes import disk_nodes, homes, shutdown_disks, shutdowns
from ganeti_tx.logic.disks.ready import ready_on
from ganeti_tx.logic.disks.sync import wait_for_sync
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import PlannedStep
from ganeti_tx.logic.undos import on_node
from ganeti_tx.logic.unit import UnitContext
from ganeti_tx.logic.wanted_locks import keep_nodes
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.disk import BlockdevRemove, BlockdevShutdown
from ganeti_tx.rpc.interfaces import RpcError

READY, SYNC, DOWN = "make the disks ready", "wait until the disks are in sync", "take the disks down"
REMOVE = "remove the old copy"


@define
class Replacing:
    """Some disks of an instance, whose copies on one node are replaced.

    @ivar early_release: whether the old copy goes before the new one is whole; the nodes are let go of then.
    """

    parts: Parts
    context: UnitContext
    target: InstanceView
    indices: Sequence[int]
    early_release: bool

    @property
    def name(self) -> str:
        """The instance's."""
        return self.target.instance.name

    @property
    def objects(self) -> tuple[str, ...]:
        """What is changed."""
        return (f"{named(self.indices)} of instance {self.name}",)

    @property
    def active(self) -> bool:
        """Whether the disks are to be ready all the time; others are so only meanwhile."""
        return self.target.instance.disks_active

    async def check_good(self, node: Node) -> None:
        """@raise OpPrereqError: the disks are active, and a node's data not good. Others are looked at when they are ready."""
        if self.active and (bad := await not_good_on(self.parts.nodes, self.target, node, self.indices)):
            raise OpPrereqError(self._not_good(node, bad), ECode.STATE)

    def _not_good(self, node: Node, bad: Sequence[int]) -> str:
        return (
            f"Node {node.name} has degraded storage, {named(bad)}, so nothing of instance {self.name} is replaced: it"
            " would be filled from there; 'gnt-instance activate-disks' may mend it"
        )

    def ready_step(self, first: Node, *others: Node) -> PlannedStep:
        """See `make_ready`."""
        return PlannedStep(READY, tuple(node.name for node in (first, *others)), self.objects)

    async def make_ready(self, first: Node, *others: Node) -> None:
        """Make the disks ready: on the node with the good data, so that others need no part of their own, then on these.

        @raise OpExecError: they cannot be, or the data are not good.
        """
        undos = () if self.active else shutdowns(self.target, self.indices)
        async with self.parts.step(READY, *undos):
            for node in (first, *others):
                for index in self.indices:
                    if await ready_on(self.parts.nodes, self.target, node, index, self.parts.warn, False) is None:
                        raise OpExecError(f"Cannot activate disk/{index} of instance {self.name} on node {node.name}")
            if bad := await not_good_on(self.parts.nodes, self.target, first, self.indices):
                raise OpExecError(self._not_good(first, bad))

    def last_steps(self, old: Node, view: InstanceView) -> list[PlannedStep]:
        """See `finish`."""
        wait = PlannedStep(
            SYNC, disk_nodes(view) + ((old.name,) if old.name not in disk_nodes(view) else ()), self.objects
        )
        remove = PlannedStep(REMOVE, (old.name,), self.objects)
        steps = [remove, wait] if self.early_release else [wait, remove]
        nodes = tuple(dict.fromkeys(node.name for index in self.indices for node in homes(view, view.disks[index])))
        return steps if self.active else [*steps, PlannedStep(DOWN, nodes, self.objects)]

    async def finish(
        self, view: InstanceView, old: Node, remains: Sequence[DiskSpec], way_back: str | None = None
    ) -> None:
        """Wait for the new copy and remove what is left of the old one, in the order that was asked for.

        A job that is ended while it waits has the old copy removed, which is out of date. When the new copy cannot be filled
        the old one stays, and is told of.

        @param view: the instance as it is now. @param remains: the old copy on its node.
        @param way_back: how that becomes the present one again, if the other side has lost the data.
        """
        removals = [self.removal(old, spec) for spec in remains]
        downs = [] if self.active else shutdowns(view, self.indices)
        await self.context.steps.settle(*downs, *removals)
        if self.early_release:
            await self.remove_old(old, remains)
            await keep_nodes(self.context.locks, [], others_may_choose=False)
            removals = []
        async with self.parts.step(SYNC):
            try:
                await wait_for_sync(self.parts.nodes, view, self.parts.info, self.parts.pause, self.indices, True)
            except OpExecError:
                for removal in removals:
                    self.context.steps.nothing_to_undo(removal)
                    self.parts.warn(f"the new copy is not whole, so this was left for later: {removal.title}")
                for _, command in left_volumes.commands(removals):
                    self.parts.warn(
                        f"as soon as it is whole, and as long as 'gnt-cluster verify' names the old volumes as unknown, '{command}'"
                        " removes them"
                    )
                if removals and way_back is not None:
                    self.parts.warn(way_back)
                raise
        if not self.early_release:
            await self.remove_old(old, remains)
        if not self.active:
            async with self.parts.step(DOWN):
                await shutdown_disks(self.parts.nodes, view, self.parts.warn, self.indices)

    async def remove_old(self, old: Node, remains: Sequence[DiskSpec]) -> None:
        """Remove the old copy from its node; what cannot be removed is told of, with the command that does it later."""
        left: list[Undo] = []
        async with self.parts.step(REMOVE):
            for spec in remains:
                try:
                    await self.parts.nodes.call(old, BlockdevRemove(disk=without_secret(spec), owner=self.name))
                except RpcError as error:
                    self.parts.warn(f"Can't remove the old copy of {self.objects[0]} on node {old.name}: {error}")
                    left += self.leftover(old, spec)
            for text in left_volumes.told(left):
                self.parts.warn(text)

    def leftover(self, node: Node, spec: DiskSpec) -> Iterator[Undo]:
        """What ends a copy that stayed on a node, where it may be ready."""
        if spec.ends is not None:
            call = BlockdevShutdown(disk=spec, owner=self.name)
            yield on_node(f"shut down disk/{spec.index} of instance {self.name}", node, call)
        yield self.removal(node, spec)

    def removal(self, node: Node, spec: DiskSpec) -> Undo:
        """What removes a disk, or one that another is made of, from a node."""
        where = "/".join(map(str, without_secret(spec).logical_id or ())) if not spec.children else f"disk/{spec.index}"
        return on_node(f"remove {where} of instance {self.name}", node, BlockdevRemove(disk=spec, owner=self.name))
