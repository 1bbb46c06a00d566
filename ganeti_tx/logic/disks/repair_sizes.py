"""Recording the sizes that disks really have."""

from collections.abc import Sequence

from attrs import frozen
from msgspec.structs import replace

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_instance, on_nodes
from ganeti_tx.model.disk import place_of
from ganeti_tx.model.disk_specs import without_secret
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes import OpClusterRepairDiskSizes
from ganeti_tx.rpc.calls.disk import BlockdevStates
from ganeti_tx.rpc.interfaces import RpcError

#: What of a disk was wrong, in the result.
SIZE, SPINDLES = "size", "spindles"


@frozen
class WrongSize:
    """One disk of an instance, and the size that it has, in MiB, or how many physical volumes for itself."""

    view: InstanceView
    index: int
    found: int
    what: str = SIZE

    @property
    def recorded(self) -> int | None:
        """What the configuration says."""
        disk = self.view.disks[self.index]
        return disk.size if self.what == SIZE else disk.spindles


class LUClusterRepairDiskSizes(LogicalUnit[OpClusterRepairDiskSizes]):
    """Ask the primary nodes, of all instances or of those that are named; the disks themselves stay as they are."""

    _named: list[Instance]
    _wrong: list[WrongSize]

    async def expand_names(self) -> None:
        """The instances."""
        if self.op.instances:
            self._named = [await self.config.instance(name) for name in dict.fromkeys(self.op.instances)]
        else:
            self._named = list(await self.config.instances())

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """They, and their primary nodes."""
        if level is Level.INSTANCE:
            return [on_instance(each.name, Mode.EXCLUSIVE) for each in self._named]
        if level is Level.NODE:
            there = {instance.uuid: instance for instance in await self.config.instances()}
            now = [there[each.uuid].primary_node for each in self._named if each.uuid in there]
            return on_nodes(now, Mode.SHARED)
        return ()

    async def check(self) -> None:
        """What the nodes say; one that says nothing is told of."""
        wanted = {each.uuid for each in self._named}
        views = (await self.config.instance_views()).each()
        self._wrong = [
            wrong
            for view in sorted(views, key=lambda view: view.instance.name)
            if view.instance.uuid in wanted and view.disks and not view.instance.forthcoming
            for wrong in await self._look(view)
        ]

    async def _look(self, view: InstanceView) -> list[WrongSize]:
        specs = [without_secret(spec) for spec in view.disk_specs()]
        try:
            states = await self.nodes.call(view.primary, BlockdevStates(disks=specs))
        except RpcError as error:
            self.warn(f"the disks of instance {view.instance.name} are left as they are recorded: {error}")
            return []
        wrong: list[WrongSize] = []
        for index, (disk, state) in enumerate(zip(view.disks, states, strict=True)):
            if state.status is None or state.status.size <= 0:
                why = state.fault or "it is not there"
                self.warn(f"disk/{index} of instance {view.instance.name} is left as it is recorded: {why}")
                continue
            if state.status.size != disk.size:
                wrong.append(WrongSize(view, index, state.status.size))
            if state.spindles is not None and state.spindles != disk.spindles:
                wrong.append(WrongSize(view, index, state.spindles, SPINDLES))
        return wrong

    def plan(self) -> Plan:
        """A step for each disk."""
        return [
            PlannedStep(title(each), (), (f"disk/{each.index} of instance {each.view.instance.name}",))
            for each in self._wrong
        ]

    async def execute(self) -> list[tuple[str, int, str, int]]:
        """Gives what was wrong: the instance, the disk's index, what of it, and the value that is recorded now."""
        for each in self._wrong:
            instance = each.view.instance
            self.warn(
                f"Disk {each.index} of instance {instance.name} has mismatched {each.what}, correcting: recorded"
                f" {each.recorded}, actual {each.found}"
            )
            async with self.step(title(each)):
                disk = (await self.config.instance_view(instance.uuid)).disks[each.index]
                place = replace(place_of(disk), **{each.what: each.found})
                await self.config.place_instance(instance.uuid, instance.primary_node, [place])
        return [(each.view.instance.name, each.index, each.what, each.found) for each in self._wrong]


def title(wrong: WrongSize) -> str:
    """Of the step that records it."""
    return f"record the {wrong.what} of disk/{wrong.index} of instance {wrong.view.instance.name}"
