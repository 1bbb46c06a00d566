"""The unit that changes an instance."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.disks.exclusive import check_wanted, with_spindles
from ganeti_tx.logic.disks.marking import mark_disks
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.create_checks import check_space
from ganeti_tx.logic.instance.fitting import check_fits
from ganeti_tx.logic.instance.hook_values import instance_values
from ganeti_tx.logic.instance.metadata import is_told, tell, telling
from ganeti_tx.logic.instance.modify import new_disks, old_disks, questions, state
from ganeti_tx.logic.instance.modify.communication import communication_change
from ganeti_tx.logic.instance.modify.conversion import (
    copy,
    copying,
    refuse_without_template,
)
from ganeti_tx.logic.instance.modify.disks import homes_of_attached
from ganeti_tx.logic.instance.modify.growth import GROW, Growth, grow, growth
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
from ganeti_tx.logic.instance.modify.outcome import Outcome, Told, WorkingOut
from ganeti_tx.logic.instance.modify.parameters import refuse_nothing
from ganeti_tx.logic.instance.moves.kept_state import KeptState
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.instance.nic_networks import Networks, named_networks
from ganeti_tx.logic.instance.presence import is_running, seen_running
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.network.unit import on_network
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.policy import check_view
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.ratios import RATED, warn_of_ratios
from ganeti_tx.logic.undos import in_config
from ganeti_tx.logic.unsent_files import unsent_files
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model import sizes
from ganeti_tx.model.disk import settings_of
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.exclusive_storage import is_exclusive
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.opcodes.types import NicChange
from ganeti_tx.model.params.backend import instance_beparams
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import RunningInstance

CHANGE = "change the instance in the configuration"
NAMES = "let the stable names of its disks lead to them"

#: What hooks are told before the change as it is to be.
OF_BACKEND = ("INSTANCE_MINMEM", "INSTANCE_MAXMEM", "INSTANCE_MEMORY", "INSTANCE_VCPUS")


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
    _kept: KeptState | None = None
    _new_secondary: Node | None = None
    _outcome: Outcome
    _live: Sequence[LiveChange] = ()
    _running: RunningInstance | None = None
    _growth: Growth | None = None
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
        if level is Level.NODE and (self._new_nodes() or self.op.disks):
            new = (node.uuid for node in self._new_nodes())
            return on_nodes(sorted({*await self._nodes_of_disks(), *new}), Mode.SHARED)
        if level is Level.NODE_RES and self.op.disks:
            return on_nodes(await self._nodes_of_disks(), Mode.SHARED, level)
        if level is Level.NETWORK:
            uuids = sorted({network.uuid for network in self._networks.values()})
            return [on_network(uuid, Mode.SHARED) for uuid in uuids]
        return wanted

    async def _nodes_of_disks(self) -> Sequence[str]:
        """The uuids of those that it is on, and of those that have a disk which is to be attached."""
        view = await self.config.instance_view(self._named.uuid)
        detached = await self.config.detached_disks() if self.op.disks else ()
        return sorted({*view.nodes, *homes_of_attached(self.op.disks, detached)})

    def _new_nodes(self) -> Sequence[Node]:
        return [node for node in (self._new_primary, self._new_secondary) if node is not None]

    async def check(self) -> None:
        """Work out how the instance is to be, and ask its nodes whether it can be so."""
        await super().check()
        self._nodes_before = list(self.target.nodes.values())
        refuse_without_template(self.op)
        refuse_nothing(self.op)
        self._nic_changes = [*self.op.nics, *communication_change(self.op, self.target)]
        self._outcome = await self._worked_out()
        after = self._outcome.after
        if self.op.beparams or self._nic_changes or self.op.disks or self.op.disk_template:
            check_view(after, ignored=self.op.ignore_ipolicy, warn=self.warn)
        if self.op.hvparams or self.op.beparams or self.op.disks or self.op.disk_template:
            filled = instance_beparams(after.cluster, after.instance)
            check_fits(after.instance.hypervisor, after.spec().hvparams, filled, len(after.disks))
        await questions.check_hypervisor(self, self.op, after)
        now, former = after.spec().hvparams, self.target.spec().hvparams
        for fault in unsent_files(after.instance.hypervisor, now, former, self.context.listed_files()):
            self.warn(fault)
        await questions.check_os(self, self.op, after)
        await questions.check_bridges(self, self.op, after, self._outcome.other_nics())
        await questions.check_memory(self, self.op, self.target, after, self._seen)
        await self._check_disks()
        if self.op.runtime_mem is not None:
            self._running = await check_balloon(self, self.op, after, self._seen)
            self._outcome.told.insert(0, ("runtime_memory", self.op.runtime_mem))
        if self._new_primary is not None:
            await state.warn_of_missing(self, after)
            self._kept = KeptState(self, Move(self.target, after), ignores=True)
            await self._kept.look()
        if self._new_primary is not None or RATED & self.op.beparams.keys():
            await warn_of_ratios(self, after, ignored=self.op.ignore_ipolicy)
        await self._check_live()

    async def _worked_out(self) -> Outcome:
        if self._new_primary is not None:
            self._new_primary = await self.config.node(self._new_primary.uuid)
        if self._new_secondary is not None:
            self._new_secondary = await self.config.node(self._new_secondary.uuid)
        work = WorkingOut(
            self, self.op, self.target, self.context.templates, self._seen, self._new_primary, self._new_secondary
        )
        return await work.outcome(self._nic_changes, self._networks)

    @property
    def _told(self) -> bool:
        return self._outcome.changed and is_told(self.target, self._outcome.after)

    @property
    def _converts(self) -> bool:
        return self.op.disk_template is not None

    async def _seen(self) -> RunningInstance | None:
        return await seen_running(self.nodes, self.target)

    async def _check_disks(self) -> None:
        """@raise OpPrereqError: the disks cannot come or leave now."""
        come = [*self._outcome.disks.added, *self._outcome.disks.attached]
        if come or self._outcome.disks.left:
            check_online(self.target.primary, f"change the disks of instance {self.instance.name}")
        if come and not self.op.wait_for_sync and not self.instance.disks_active and not self._converts:
            raise OpPrereqError(
                "Can't add a disk to an instance with deactivated disks and --no-wait-for-sync given", ECode.INVAL
            )
        plans, after = list(self._outcome.disks.plans.values()), self._outcome.after
        if plans:
            check_wanted(after.cluster, after.group, [after.disk_template], [plan.spindles for plan in plans])
        homes = [self.target.primary, *self._new_nodes()] if self._converts else self.target.nodes.values()
        for node in homes if plans else ():
            await check_space(self.nodes, node, plans, exclusive=is_exclusive(after.cluster, after.group, node))

    async def _check_live(self) -> None:
        """@raise OpPrereqError: a disk cannot leave while it is in use, or what has to be done at once cannot."""
        if self.op.beparams and (self.op.hotplug or self.op.hotplug_if_possible):
            self._growth = await growth(self, self.op, self.target, self._outcome.after, await self._seen())
        changes = live_changes(self.target, self._outcome.after) if self._nic_changes or self.op.disks else []
        if changes and await can_plug(self, self.op, self.target, changes):
            self._live = changes
            return
        if self._outcome.disks.left:
            refusal = "can't remove volume from a running instance without using hotplug"
            if self.instance.admin_state is AdminState.UP or is_running(await self._seen()):
                raise OpPrereqError(f"Instance '{self.instance.name}' is marked to be up, {refusal}", ECode.STATE)

    async def hook_values(self) -> Mapping[str, object]:
        """Before, the instance as it is, but for its NICs and what is told of memory and processors; afterwards as it is."""
        asked = {name: value for name, value in self._asked().items() if value is not None}
        if self._done:
            return {**asked, **instance_values(self.target)}
        now, wanted = instance_values(self.target), instance_values(self._outcome.after)
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
        steps = new_disks.creations_of(self._outcome.after, self._outcome.disks.plans)
        if self._converts:
            steps.append(copying(self._outcome.after))
        elif self._outcome.come:
            homes = tuple(
                dict.fromkeys(
                    node for _, disk in self._outcome.come_disks for node in new_disks.names(self._outcome.after, disk)
                )
            )
            steps.append(PlannedStep(new_disks.READY, homes, name))
        steps.extend(planned(self.target, self._live))
        if self._running is not None:
            steps.append(PlannedStep(BALLOON, (self.target.primary.name,), name))
        if self._kept is not None:
            steps += self._kept.first_steps()
        if self._outcome.changed:
            steps.append(PlannedStep(CHANGE, (), name))
        if self._kept is not None:
            steps += self._kept.last_steps()
        if self._growth is not None:
            steps.append(PlannedStep(GROW, (self.target.primary.name,), name))
        if self._told:
            steps.append(telling(self._outcome.after))
        steps.extend(old_disks.leaving(self.target, index, removed) for index, _, removed in self._outcome.leaving)
        if self._outcome.renames:
            steps.append(PlannedStep(NAMES, (self._outcome.after.primary.name,), name))
        return steps

    async def execute(self) -> Told:
        """Do it; what is told of the change."""
        await self._bring_disks()
        if self._converts:
            await copy(self, self.target, self._outcome.after, wait=self.op.wait_for_sync)
        for change in self._live:
            self._outcome.told.extend(await plug(self, self._outcome.after, change, forced=self.op.hotplug))
        if self._running is not None and self.op.runtime_mem is not None:
            await balloon(self, self._outcome.after, self._running, self.op.runtime_mem)
        if self._kept is not None:
            await self._kept.carry()
        if self._outcome.changed:
            await self._change()
            if self._kept is not None:
                await self._kept.leave()
            await mark_disks(self.nodes, self._outcome.after, self._outcome.not_made, self.warn)
        if self._growth is not None:
            await grow(self, self._outcome.after, self._growth, forced=self.op.hotplug)
        if self._told:
            await tell(self, self._outcome.after)
        if self._converts:
            self.info(f"Removing old block devices of type '{self.target.disk_template.value}'...")
        for index, named, removed in self._outcome.leaving:
            work = self._leave if removed else old_disks.take_down
            await work(self, self.target, index, named)
        if self._outcome.renames:
            async with self.step(NAMES):
                await new_disks.name_anew(self, self._outcome.after)
        return self._outcome.told

    async def _bring_disks(self) -> None:
        """Create them, and let them be ready if the others are."""
        old, new = self.target.disk_template.value, self._outcome.after.disk_template.value
        if self._converts:
            self.info(f"Converting disk template from '{old}' to '{new}'")
            self.info(f"Generating new '{new}' disk template...")
        for index, disk in self._outcome.come_disks:
            self.info(f"* disk {index}, size {sizes.shown(disk.size)}")
        if self._converts:
            self.info(f"Creating new empty disks of type '{new}'...")
        await new_disks.create(self.nodes, self._outcome.after, self._outcome.disks.plans, self.context.steps)
        if not self._outcome.come or self._converts:
            return
        await new_disks.bring(
            self, self._outcome.after, self._outcome.come, self._outcome.disks.plans, wait=self.op.wait_for_sync
        )

    @property
    def _leave(self) -> Callable[[Parts, InstanceView, int, int], Awaitable[None]]:
        return old_disks.replaced if self._converts else old_disks.remove

    async def _change(self) -> None:
        """From here on it stays: what comes after is done to its end."""
        former, new = self.instance, [disk.uuid for disk in self._outcome.disks.added]
        known = await with_spindles(self.nodes, self._outcome.after, new) if new else ()
        added = [disk for disk in known if disk.uuid in new]
        settings = [settings_of(disk) for disk in (*self.target.disks, *self._outcome.disks.attached_before)]
        undo = in_config(
            f"change instance {former.name} back",
            IConfig.restore_instance,
            former,
            settings,
            [disk.uuid for disk in added],
        )
        async with self.step(CHANGE, undo):
            await self.config.change_instance(self._outcome.after.instance, added, self._outcome.settings)
        await self.context.steps.settle(*self._rest())

    def _rest(self) -> Sequence[Undo]:
        """What is done in any case from here on: disks that are removed are removed, and of converted ones none is left."""
        needed = not self._converts
        return [
            undo
            for index, named, removed in self._outcome.leaving
            if removed
            for undo in old_disks.completion(self.target, index, named, needed=needed)
        ]
