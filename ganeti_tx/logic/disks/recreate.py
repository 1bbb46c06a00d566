"""Making lost disks of an instance anew, empty, where they were or on other nodes."""

from collections.abc import Sequence

from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.allocation import allocators
from ganeti_tx.logic.disks.exclusive import check_wanted, with_spindles
from ganeti_tx.logic.disks.health import named
from ganeti_tx.logic.disks.make import create_disks, creations
from ganeti_tx.logic.disks.new_homes import NewHomes, check_homes, chosen_homes, moved
from ganeti_tx.logic.disks.on_nodes import homes
from ganeti_tx.logic.disks.recreated import changed_disks
from ganeti_tx.logic.disks.room import all_parts, check_disk_room
from ganeti_tx.logic.disks.wipe import to_wipe, wipe_whole, wiping
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.moves.kept_state import KeptState
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.instance.stopped import check_stopped
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask, check_online
from ganeti_tx.logic.undos import in_config
from ganeti_tx.logic.wanted_locks import keep_nodes, on_allocation, on_nodes
from ganeti_tx.model.disk import place_of
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.disk_template import Adoption
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_disks import OpInstanceRecreateDisks
from ganeti_tx.model.opcodes.types import AllocatorMode
from ganeti_tx.rpc.calls.disk import BlockdevStates

RECORD = "record where and how large its disks are"


class LUInstanceRecreateDisks(InstanceUnit[OpInstanceRecreateDisks]):
    """Make disks anew that are not there any more; nothing of what was on them comes back."""

    hook = Hook("instance-recreate-disks", HookObject.INSTANCE)

    _candidates: Sequence[Node] = ()
    _given: Sequence[str] = ()
    _indices: list[int]
    _new: InstanceView
    _former: Sequence[Node]
    _kept: KeptState | None = None

    async def expand_names(self) -> None:
        """The instance, and the nodes that are given, or those among which an allocator may choose."""
        await super().expand_names()
        given = self.op.node_uuids or self.op.nodes
        if given and self.op.iallocator is not None:
            raise OpPrereqError("Give either new nodes or an iallocator, not both", ECode.INVAL)
        if given:
            self._candidates = [await self.config.node(each) for each in given]
        elif self.op.iallocator is not None:
            view = await self.config.instance_view(self._named.uuid)
            allocators(self.op.iallocator, await self.config.cluster(), AllocatorMode.ALLOCATE)
            self._candidates = [node for node in await self.config.nodes() if node.group == view.primary.group]
        self._given = [node.uuid for node in self._candidates] if given else ()

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The instance; its nodes, and those to which it may go."""
        if level is Level.NODE_ALLOC and self.op.iallocator is not None:
            return [on_allocation(Mode.EXCLUSIVE)]
        if level is Level.NODE:
            own = (await self.config.instance_view(self._named.uuid)).nodes
            return on_nodes([*own, *(node.uuid for node in self._candidates)], Mode.SHARED)
        return await super().locks_at(level)

    async def check(self) -> None:
        """The instance is stopped, and the disks are lost; their nodes can have them."""
        await super().check()
        self._former = list(self.target.nodes.values())
        if not self.target.disks:
            raise OpPrereqError(f"Instance '{self.instance.name}' has no disks", ECode.INVAL)
        count = 1 + len(self.target.secondaries)
        if self._given and len(self._given) != count:
            raise OpPrereqError(
                f"Instance {self.instance.name} currently has {count} nodes, but {len(self._given)} replacement nodes were"
                " specified",
                ECode.INVAL,
            )
        if not self.target.primary.offline:
            await check_stopped(self.nodes, self.target, "recreate disks")
        elif self.instance.admin_state is AdminState.UP:
            raise OpPrereqError(
                f"Instance '{self.instance.name}' is marked to be up, cannot recreate disks", ECode.STATE
            )
        disks, self._indices = changed_disks(self.op.disks, self.target.disks, self.target.cluster)
        self._check_templates()
        self._new = replace(self.target, disks=disks)
        if self._given or self.op.iallocator is not None:
            await self._move()
        spindles = [self._new.disks[index].spindles for index in self._indices]
        check_wanted(self.target.cluster, self._new.group, [self.target.disk_template], spindles)
        await self._check_nodes()
        if self._new.primary.uuid != self.target.primary.uuid:
            self._kept = KeptState(self, Move(self.target, self._new), ignores=True)
            await self._kept.look()

    async def object_nodes(self) -> Sequence[Node]:
        """Where it was, also afterwards."""
        return self._former

    def _check_templates(self) -> None:
        for index in self._indices:
            disk = self.target.disks[index]
            if disk.template.adoption is Adoption.ALWAYS:
                raise OpPrereqError(
                    f"disk/{index} of instance {self.instance.name} cannot be made anew: disks of template"
                    f" {disk.dev_type.value} are devices that are there already",
                    ECode.INVAL,
                )

    async def _move(self) -> None:
        if self._indices != list(range(len(self.target.disks))):
            raise OpPrereqError(
                "Can't recreate disks partially and change the nodes at the same time; name every disk, or none",
                ECode.INVAL,
            )
        if self._given:
            nodes = [await self.config.node(uuid) for uuid in self._given]
        else:
            nodes = await chosen_homes(self, self.op.iallocator, self._new)
            await keep_nodes(
                self.context.locks, [*self.target.nodes, *(node.uuid for node in nodes)], others_may_choose=False
            )
        check_homes(self.target, nodes)
        group = await self.config.group(nodes[0].group)
        self._new = await moved(self.config, self._new, NewHomes(tuple(nodes), group))

    async def _check_nodes(self) -> None:
        """Each node answers, has the room, and has none of the disks."""
        wanted: dict[str, tuple[Node, list[int]]] = {}
        for index in self._indices:
            for node in homes(self._new, self._new.disks[index]):
                wanted.setdefault(node.name, (node, []))[1].append(index)
        for node, indices in wanted.values():
            check_online(
                node, f"recreate disks of instance {self.instance.name} there; others can be given with --node"
            )
            await self._check_lost(node, indices)
            parts = [(part, part.size) for index in indices for part in all_parts(self._new.disks[index])]
            exclusive = is_exclusive(self.target.cluster, self._new.group)
            await check_disk_room(self.nodes, self.target.cluster, [node], parts, exclusive=exclusive)

    async def _check_lost(self, node: Node, indices: Sequence[int]) -> None:
        specs = self._new.disk_specs(node)
        for index in indices:
            parts = [without_secret(part) for part in specs[index].children or [specs[index]]]
            states = await ask(self.nodes, node, BlockdevStates(disks=parts), ECode.ENVIRON)
            if any(state.status is not None for state in states):
                raise OpPrereqError(
                    f"disk/{index} of instance {self.instance.name} is there on node {node.name}: recreate only those that"
                    " are lost, with --disk",
                    ECode.STATE,
                )

    @property
    def _wiped(self) -> list[int]:
        return [index for index in to_wipe(self._new) if index in self._indices]

    @property
    def _changes(self) -> bool:
        """Whether the configuration has to say something else."""
        measured = is_exclusive(self.target.cluster, self._new.group)
        return measured or self._new.disks != self.target.disks or self._new.primary.uuid != self.target.primary.uuid

    def plan(self) -> Plan:
        """Each disk; the record, if anything is new about them."""
        record = [PlannedStep(RECORD, (), (f"{named(self._indices)} of instance {self.instance.name}",))]
        return [
            *creations(self._new, self._indices),
            *wiping(self._new, self._wiped),
            *(self._kept.first_steps() if self._kept is not None else ()),
            *(record if self._changes else ()),
            *(self._kept.last_steps() if self._kept is not None else ()),
        ]

    async def execute(self) -> None:
        """A failure removes what was made."""
        if self._new.nodes.keys() != self.target.nodes.keys():
            self.warn(
                "Changing the instance's nodes, you will have to remove any disks left on the older nodes manually"
            )
        await create_disks(self.nodes, self._new, self.context.steps, only=self._indices)
        await wipe_whole(self, self._new, self._wiped)
        if self._kept is not None:
            await self._kept.carry()
        if self._changes:
            before = [place_of(disk) for disk in self.target.disks]
            after = [place_of(disk) for disk in await with_spindles(self.nodes, self._new)]
            uuid, place = self.instance.uuid, IConfig.place_instance
            title = f"record the disks of instance {self.instance.name} as they were"
            async with self.step(RECORD, in_config(title, place, uuid, self.instance.primary_node, before)):
                await self.config.place_instance(uuid, self._new.instance.primary_node, after)
        if self._kept is not None:
            await self.context.steps.settle()
            await self._kept.leave()
