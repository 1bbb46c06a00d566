"""New volumes below mirrors, on one of their two nodes; the configuration stays as it is, as the new take the names of the old."""

from collections.abc import Iterator, Sequence

from attrs import define
from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.logic.disks.apart import why_other
from ganeti_tx.logic.disks.replacing import Replacing
from ganeti_tx.logic.disks.room import all_parts, check_disk_room
from ganeti_tx.logic.disks.yielding import yield_to_primary
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.undos import on_node
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.instance_spec import DiskSpec
from ganeti_tx.model.node import Node
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.calls.disk import (
    BlockdevCreate,
    BlockdevRemove,
    BlockdevRename,
    BlockdevStates,
)
from ganeti_tx.rpc.calls.mirror import BlockdevAddchildren, BlockdevRemovechildren
from ganeti_tx.rpc.interfaces import R, RpcError

#: What is behind the name of a volume while it is not in its place. The names are always the same: what is left of a
#: replacement that was cut off is found by them, and removed by the next one.
NEW, OLD = "_new", "_replaced"

CLEAR, CREATE = "remove what an earlier replacement has left", "create new volumes"


def detach(index: int) -> str:
    """The title of the step that takes a mirror's volumes away."""
    return f"detach the volumes of disk/{index}"


def aside(index: int) -> str:
    """Of the step that renames the old volumes."""
    return f"put the old volumes of disk/{index} aside"


def in_place(index: int) -> str:
    """Of the step that renames the new ones."""
    return f"put the new volumes of disk/{index} in their place"


def attach(index: int) -> str:
    """Of the step that gives the mirror its new volumes."""
    return f"attach the new volumes of disk/{index}"


@define
class NewVolumes:
    """On `node`; the data come from the other one."""

    common: Replacing
    node: Node

    @property
    def _other(self) -> Node:
        return next(node for node in self.common.target.nodes.values() if node.uuid != self.node.uuid)

    @property
    def _specs(self) -> list[tuple[int, DiskSpec]]:
        specs = self.common.target.disk_specs(self.node)
        return [(index, specs[index]) for index in self.common.indices]

    async def check(self) -> None:
        """Both nodes answer, this one has the room, the other one good data.

        @raise OpPrereqError: why not.
        """
        target = self.common.target
        for node in (self.node, self._other):
            check_online(node, f"replace disks of instance {self.common.name}")
        await self.common.check_good(self._other)
        await self._check_not_older()
        disks = [target.disks[index] for index in self.common.indices]
        wanted = [(part, part.size) for disk in disks for part in all_parts(disk)]
        await check_disk_room(self.common.parts.nodes, target.cluster, [self.node], wanted)

    async def _check_not_older(self) -> None:
        """Those of the primary node go only if the other one has all that is in them.

        @raise OpPrereqError: the disks are active, and it has not.
        """
        target = self.common.target
        if self.common.active and self._on_primary:
            for index in self.common.indices:
                if why := await why_other(self.common.parts.nodes, target, self.node, index):
                    raise OpPrereqError(
                        f"disk/{index} of instance {self.common.name} cannot be filled from node {self._other.name}: {why}",
                        ECode.STATE,
                    )

    def plan(self) -> Plan:
        """Steps for each disk, each of which can be taken back until the last is done."""
        here, objects = (self.node.name,), self.common.objects
        exchanges = [
            PlannedStep(title(index), here, (f"disk/{index} of instance {self.common.name}",))
            for index in self.common.indices
            for title in (detach, aside, in_place, attach)
        ]
        return [
            self.common.ready_step(self._other, self.node),
            PlannedStep(CLEAR, here, objects),
            PlannedStep(CREATE, here, objects),
            *exchanges,
            *self.common.last_steps(self.node, self.common.target),
        ]

    async def run(self) -> None:
        """Until the new volumes are attached everything is taken back; from then on they stay."""
        steps = self.common.parts
        await self.common.make_ready(self._other, self.node)
        async with steps.step(CLEAR):
            await self._clear()
        new = [renamed(child, NEW) for _, spec in self._specs for child in spec.children]
        async with steps.step(CREATE, *(self.common.removal(self.node, each) for each in new)):
            for each in new:
                await self._tell(BlockdevCreate(disk=each, owner=self.common.name))
        for index, spec in self._specs:
            await self._exchange(index, spec)
        old = [renamed(child, OLD) for _, spec in self._specs for child in spec.children]
        await self.common.finish(self.common.target, self.node, old, self._way_back())

    @property
    def _on_primary(self) -> bool:
        return self.node is self.common.target.primary

    def _as_it_was(self, *between: str) -> str:
        """How the instance goes on with what this node had, should the other one have lost its copy meanwhile."""
        name = self.common.name
        runs = self.common.target.instance.admin_state is AdminState.UP
        down = f"gnt-instance shutdown {name}" if runs else f"gnt-instance deactivate-disks {name}"
        line = " && ".join([down, *between, *([f"gnt-instance startup --force {name}"] if runs else [])])
        return (
            f"if node {self._other.name} has lost its copy, the old one on node {self.node.name} is what there is, as it was"
            f" when it was detached; {line!r} goes on with it"
        )

    def _way_back(self) -> str | None:
        """To the volumes that were put aside, if the data of the new ones come from elsewhere while the instance runs."""
        if not self._on_primary:
            return None
        words = [f"lvremove -f {' '.join(text(child) for _, spec in self._specs for child in spec.children)}"]
        for _, spec in self._specs:
            words += [f"lvrename {text(renamed(child, OLD))} {text(child)}" for child in spec.children]
        return self._as_it_was(f'gnt-cluster command -n {self.node.name} "{"; ".join(words)}"')

    def _again(self, whole: str) -> str:
        if self._on_primary:
            return self._as_it_was()
        return f"'gnt-instance activate-disks {self.common.name}' attaches the volumes of {whole} again"

    async def _clear(self) -> None:
        """What is there under names that only a replacement gives."""
        children = [child for _, spec in self._specs for child in spec.children]
        for each in await self._there([renamed(child, suffix) for child in children for suffix in (NEW, OLD)]):
            await self._tell(BlockdevRemove(disk=each, owner=self.common.name))

    async def _there(self, volumes: Sequence[DiskSpec]) -> list[DiskSpec]:
        """Those of some volumes that are on the node."""
        states = await self._tell(BlockdevStates(disks=list(volumes)))
        for state in states:
            if state.fault:
                raise OpExecError(f"node {self.node.name} cannot tell which volumes it has: {state.fault}")
        return [volume for volume, state in zip(volumes, states, strict=True) if state.status is not None]

    async def _exchange(self, index: int, spec: DiskSpec) -> None:
        step, plain = self.common.parts.step, without_secret(spec)
        whole = f"disk/{index} of instance {self.common.name}"
        title = f"attach the volumes of {whole} again"
        back = on_node(title, self.node, BlockdevAddchildren(disk=plain), by_hand=self._again(whole))
        async with step(detach(index), back):
            if not self._on_primary:
                await yield_to_primary(self.common.parts, self.common.target, index)
            await self._tell(BlockdevRemovechildren(disk=plain))
        old = await self._there(spec.children)  # of which some may be lost
        async with step(aside(index), *self._renamings_back(old, OLD, aside_again=False)):
            for child in old:
                await self._tell(self._renaming(child, renamed(child, OLD)))
        async with step(in_place(index), *self._renamings_back(spec.children, NEW, aside_again=True)):
            for child in spec.children:
                await self._tell(self._renaming(renamed(child, NEW), child))
        gone = on_node(f"detach the new volumes of {whole}", self.node, BlockdevRemovechildren(disk=plain))
        async with step(attach(index), gone):
            await self._tell(BlockdevAddchildren(disk=plain))

    def _renamings_back(self, volumes: Sequence[DiskSpec], suffix: str, *, aside_again: bool) -> Iterator[Undo]:
        """Give volumes back the names that they had: their own, or (`aside_again`) those with the suffix."""
        for volume in volumes:
            pair = (volume, renamed(volume, suffix))
            now, then = pair if aside_again else pair[::-1]
            yield on_node(f"rename {text(now)} to {text(then)}", self.node, self._renaming(now, then))

    def _renaming(self, volume: DiskSpec, as_this: DiskSpec) -> BlockdevRename:
        return BlockdevRename(disk=volume, owner=self.common.name, logical_id=list(as_this.logical_id or ()))

    async def _tell(self, call: NodeCall[R]) -> R:
        """@raise OpExecError: the node says no, or nothing."""
        try:
            return await self.common.parts.nodes.call(self.node, call)
        except RpcError as error:
            raise OpExecError(f"could not replace the volumes of {self.common.objects[0]}: {error}") from None


def renamed(volume: DiskSpec, suffix: str) -> DiskSpec:
    """A volume by the name that it has while it is not in its place."""
    *pool, name = volume.logical_id or [""]
    return replace(volume, logical_id=[*pool, f"{name}{suffix}"])


def text(volume: DiskSpec) -> str:
    """The name of a volume."""
    return "/".join(map(str, volume.logical_id or ()))
