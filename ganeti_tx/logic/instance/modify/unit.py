"""The unit that changes an instance."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.create_checks import check_space
from ganeti_tx.logic.instance.hook_values import instance_values
from ganeti_tx.logic.instance.modify import new_disks, old_disks, questions, state
from ganeti_tx.logic.instance.modify.communication import communication_change
from ganeti_tx.logic.instance.modify.conversion import (
    Conversion,
    check_conversion,
    check_secondary,
    copy,
    copying,
    refuse_without_template,
)
from ganeti_tx.logic.instance.modify.disks import DiskChanges
from ganeti_tx.logic.instance.modify.live import (
    BALLOON,
    LiveChange,
    balloon,
    can_plug,
    check_balloon,
    live_changes,
    planned,
    plug,
)
from ganeti_tx.logic.instance.modify.nics import NicChanges
from ganeti_tx.logic.instance.modify.parameters import refuse_nothing, told_parameters, with_parameters
from ganeti_tx.logic.instance.nic_networks import Networks, named_networks
from ganeti_tx.logic.instance.presence import is_running, seen_running
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.network.unit import on_network
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.policy import check_move, check_view
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.undos import in_config
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model import sizes
from ganeti_tx.model.disk import Disk, DiskSettings, settings_of
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.opcodes.types import NicChange
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import RunningInstance

CHANGE = "change the instance in the configuration"
NAMES = "let the stable names of its disks lead to them"

#: What hooks are told before the change as it is to be.
OF_BACKEND = ("INSTANCE_MINMEM", "INSTANCE_MAXMEM", "INSTANCE_MEMORY", "INSTANCE_VCPUS")

Told = list[tuple[str, object]]


class LUInstanceSetParams(InstanceUnit[OpInstanceSetParams]):
    """All is worked out on paper first; then disks are made, devices plugged, and the configuration changed in one go.

    Until then all is taken back when something fails. Disks leave at the very end.
    """

    hook = Hook(
        "instance-modify",
        HookObject.INSTANCE,
        asked={"NEW_DISK_TEMPLATE": "disk_template", "RUNTIME_MEMORY": "runtime_mem"},
    )

    _nodes_before: Sequence[Node]
    _networks: Networks
    _nic_changes: Sequence[NicChange]
    _new_primary: Node | None = None
    _new_secondary: Node | None = None
    _nics: NicChanges
    _disks: DiskChanges
    _after: InstanceView
    _settings: Sequence[DiskSettings]
    _live: Sequence[LiveChange] = ()
    _running: RunningInstance | None = None
    _told: Told
    _done: bool = False

    async def expand_names(self) -> None:
        """The instance, its new primary node, and the networks that its NICs are to be in."""
        await super().expand_names()
        if wanted := self.op.pnode_uuid or self.op.pnode:
            self._new_primary = await self.config.node(wanted)
        if wanted := self.op.remote_node_uuid or self.op.remote_node:
            self._new_secondary = await self.config.node(wanted)
        self._networks = await named_networks(self.config, [change.params for change in self.op.nics])

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Its nodes, the new one too, and the networks."""
        wanted = list(await super().locks_at(level))
        if level is Level.NODE and (new := self._new_nodes()):
            view = await self.config.instance_view(self._named.uuid)
            return on_nodes([*view.nodes, *(node.uuid for node in new)], Mode.SHARED)
        if level is Level.NODE_RES and self.op.disks:
            view = await self.config.instance_view(self._named.uuid)
            return on_nodes(view.nodes, Mode.SHARED, level)
        if level is Level.NETWORK:
            uuids = sorted({network.uuid for network in self._networks.values()})
            return [on_network(uuid, Mode.SHARED) for uuid in uuids]
        return wanted

    def _new_nodes(self) -> Sequence[Node]:
        return [node for node in (self._new_primary, self._new_secondary) if node is not None]

    async def check(self) -> None:
        """Work out how the instance is to be, and ask its nodes whether it can be so."""
        await super().check()
        self._nodes_before = list(self.target.nodes.values())
        refuse_without_template(self.op)
        refuse_nothing(self.op)
        self._nic_changes = [*self.op.nics, *communication_change(self.op, self.target)]
        await self._work_out()
        after = self._after
        if self.op.beparams or self._nic_changes or self.op.disks or self.op.disk_template:
            check_view(after, ignored=self.op.ignore_ipolicy, warn=self.warn)
        await questions.check_hypervisor(self, self.op, after)
        await questions.check_os(self, self.op, after)
        await questions.check_bridges(self, self.op, after, self._other_nics())
        await questions.check_memory(self, self.op, self.target, after, self._seen)
        await self._check_disks()
        if self.op.runtime_mem is not None:
            self._running = await check_balloon(self, self.op, after, self._seen)
            self._told.insert(0, ("runtime_memory", self.op.runtime_mem))
        if self._new_primary is not None:
            await state.warn_of_missing(self, after)
        await self._check_live()

    async def _work_out(self) -> None:
        view, cluster = self.target, self.target.cluster
        wanted = with_parameters(self.op, cluster, self.instance)
        nodes = list(view.nodes.values())
        if self._new_primary is not None:
            self._new_primary = await self.config.node(self._new_primary.uuid)
            target = await self.config.group(self._new_primary.group)
            await state.check_new_primary(view, self._new_primary, target, self._seen)
            check_move(view, target, ignored=self.op.ignore_ipolicy, warn=self.warn)
            wanted = replace(wanted, primary_node=self._new_primary.uuid)
            nodes.append(self._new_primary)
        home = self._new_primary or view.primary
        group, networks = await self.config.group(home.group), await self.config.networks()
        known = {**{each.name: each for each in networks}, **self._networks}
        self._nics = NicChanges(self, view, group, known, networks, self.op.conflicts_check)
        await self._nics.make(self._nic_changes)
        self._disks = await self._changed_disks()
        if self._new_secondary is not None:
            nodes.append(self._new_secondary)
        disks = self._disks.disks if self._new_primary is None else state.moved(self._disks.disks, self._new_primary)
        wanted = replace(wanted, nics=self._nics.nics, disks=tuple(disk.uuid for disk in disks))
        if self.op.offline is not None:
            wanted = await state.with_state(view, wanted, self.op.offline, self._seen)
        self._settings = state.new_settings([*view.disks, *self._disks.detached], disks)
        self._after = state.viewed_with(view, wanted, disks, nodes, group, networks)
        self._told = [*self._disks.told, *self._nics.told, *told_parameters(self.op)]
        if self.op.offline is not None:
            self._told.append(("admin_state", wanted.admin_state.value))

    async def _changed_disks(self) -> DiskChanges:
        view = self.target
        if self.op.disk_template is None:
            changes = DiskChanges(self, view, await self.config.detached_disks() if self.op.disks else ())
            await changes.make(self.op.disks)
            return changes
        template = check_conversion(self.op, view, self.context.templates)
        if self._new_secondary is not None:
            self._new_secondary = await self.config.node(self._new_secondary.uuid)
        check_secondary(self.op, view, template, self._new_secondary)
        conversion = Conversion(self, view, (), self._new_secondary)
        await conversion.check()
        await conversion.convert(self.op, template)
        return conversion

    @property
    def _converts(self) -> bool:
        return self.op.disk_template is not None

    def _other_nics(self) -> list[Nic]:
        before = self.instance.nics
        return [nic for nic in self._nics.nics if nic not in before]

    async def _seen(self) -> RunningInstance | None:
        return await seen_running(self.nodes, self.target)

    async def _check_disks(self) -> None:
        """@raise OpPrereqError: the disks cannot come or leave now."""
        come = [*self._disks.added, *self._disks.attached]
        if come or self._disks.left:
            check_online(self.target.primary, f"change the disks of instance {self.instance.name}")
        if come and not self.op.wait_for_sync and not self.instance.disks_active and not self._converts:
            raise OpPrereqError(
                "Can't add a disk to an instance with deactivated disks and --no-wait-for-sync given", ECode.INVAL
            )
        plans = list(self._disks.plans.values())
        homes = [self.target.primary, *self._new_nodes()] if self._converts else self.target.nodes.values()
        for node in homes if plans else ():
            await check_space(self.nodes, node, plans)

    async def _check_live(self) -> None:
        """@raise OpPrereqError: a disk cannot leave while it is in use."""
        changes = live_changes(self.target, self._after) if self._nic_changes or self.op.disks else []
        if changes and await can_plug(self, self.op, self.target, changes):
            self._live = changes
            return
        if self._disks.left:
            refusal = "can't remove volume from a running instance without using hotplug"
            if self.instance.admin_state is AdminState.UP or is_running(await self._seen()):
                raise OpPrereqError(f"Instance '{self.instance.name}' is marked to be up, {refusal}", ECode.STATE)

    async def hook_values(self) -> Mapping[str, object]:
        """Before, the instance as it is, but for its NICs and what is told of memory and processors; afterwards as it is."""
        asked = {name: value for name, value in self._asked().items() if value is not None}
        if self._done:
            return {**asked, **instance_values(self.target)}
        now, wanted = instance_values(self.target), instance_values(self._after)
        kept = {name: value for name, value in now.items() if not name.startswith("INSTANCE_NIC")}
        nics = {name: value for name, value in wanted.items() if name.startswith("INSTANCE_NIC")}
        return {**asked, **kept, **nics, **{name: wanted[name] for name in OF_BACKEND}}

    async def object_nodes(self) -> Sequence[Node]:
        """Where it was, afterwards, too."""
        return self._nodes_before

    def _asked(self) -> Mapping[str, object]:
        template = self.op.disk_template
        return {
            "NEW_DISK_TEMPLATE": None if template is None else template.value,
            "RUNTIME_MEMORY": self.op.runtime_mem,
        }

    async def read_again(self) -> None:
        """As it is now."""
        await super().read_again()
        self._done = True

    def plan(self) -> Plan:
        """Disks come, devices are plugged, memory changes, the configuration changes, disks leave."""
        name = (f"instance {self.instance.name}",)
        steps = new_disks.creations_of(self._after, self._disks.plans)
        if self._converts:
            steps.append(copying(self._after))
        elif self._come:
            homes = tuple(
                dict.fromkeys(node for _, disk in self._come_disks for node in new_disks.names(self._after, disk))
            )
            steps.append(PlannedStep(new_disks.READY, homes, name))
        steps.extend(planned(self.target, self._live))
        if self._running is not None:
            steps.append(PlannedStep(BALLOON, (self.target.primary.name,), name))
        if self._changed:
            steps.append(PlannedStep(CHANGE, (), name))
        steps.extend(old_disks.leaving(self.target, index, removed) for index, _, removed in self._leaving)
        if self._renames:
            steps.append(PlannedStep(NAMES, (self._after.primary.name,), name))
        return steps

    @property
    def _come(self) -> set[str]:
        """The disks that come."""
        return {disk.uuid for disk in (*self._disks.added, *self._disks.attached)}

    @property
    def _come_disks(self) -> list[tuple[int, Disk]]:
        return new_disks.chosen(self._after, self._come)

    @property
    def _leaving(self) -> list[tuple[int, int, bool]]:
        """The places of the disks that leave, the place whose stable name goes with each, and whether their data go.

        Those that keep their data are taken down if they are ready.
        """
        places = iter(range(len(self._after.disks), len(self.target.disks)))  # which are no disk's any more
        gone = {disk.uuid for disk in self._disks.removed}
        each = [(index, next(places, -1), self.target.disks[index].uuid in gone) for index in self._disks.left]
        return [(index, named, removed) for index, named, removed in each if removed or self.instance.disks_active]

    @property
    def _renames(self) -> bool:
        """Whether disks that are ready have other places now."""
        moved = self._after.instance.disks != self.instance.disks
        return moved and self.instance.disks_active and bool(self._after.disks)

    @property
    def _changed(self) -> bool:
        return bool(self._after.instance != self.instance or self._settings)

    async def execute(self) -> Told:
        """Do it; what is told of the change."""
        await self._bring_disks()
        if self._converts:
            await copy(self, self.target, self._after, wait=self.op.wait_for_sync)
        for change in self._live:
            self._told.extend(await plug(self, self._after, change, forced=self.op.hotplug))
        if self._running is not None and self.op.runtime_mem is not None:
            await balloon(self, self._after, self._running, self.op.runtime_mem)
        if self._changed:
            await self._change()
        if self._converts:
            self.info(f"Removing old block devices of type '{self.target.disk_template.value}'...")
        for index, named, removed in self._leaving:
            work = self._leave if removed else old_disks.take_down
            await work(self, self.target, index, named)
        if self._renames:
            async with self.step(NAMES):
                await new_disks.name_anew(self, self._after)
        return self._told

    async def _bring_disks(self) -> None:
        """Create them, and let them be ready if the others are."""
        old, new = self.target.disk_template.value, self._after.disk_template.value
        if self._converts:
            self.info(f"Converting disk template from '{old}' to '{new}'")
            self.info(f"Generating new '{new}' disk template...")
        for index, disk in self._come_disks:
            self.info(f"* disk {index}, size {sizes.shown(disk.size)}")
        if self._converts:
            self.info(f"Creating new empty disks of type '{new}'...")
        await new_disks.create(self.nodes, self._after, self._disks.plans, self.context.steps)
        if not self._come or self._converts:
            return
        await new_disks.bring(self, self._after, self._come, self._disks.plans, wait=self.op.wait_for_sync)

    @property
    def _leave(self) -> Callable[[Parts, InstanceView, int, int], Awaitable[None]]:
        return old_disks.replaced if self._converts else old_disks.remove

    async def _change(self) -> None:
        """From here on it stays: what comes after is done to its end."""
        former, added = self.instance, self._disks.added
        settings = [settings_of(disk) for disk in (*self.target.disks, *self._disks.attached_before)]
        undo = in_config(
            f"change instance {former.name} back",
            IConfig.restore_instance,
            former,
            settings,
            [disk.uuid for disk in added],
        )
        async with self.step(CHANGE, undo):
            await self.config.change_instance(self._after.instance, added, self._settings)
        await self.context.steps.settle(*self._rest())

    def _rest(self) -> Sequence[Undo]:
        """What is done in any case from here on: disks that are removed are removed, and of converted ones none is left."""
        needed = not self._converts
        return [
            undo
            for index, named, removed in self._leaving
            if removed
            for undo in old_disks.completion(self.target, index, named, needed=needed)
        ]
