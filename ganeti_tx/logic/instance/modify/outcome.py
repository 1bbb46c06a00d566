"""An instance as a request would have it, worked out on paper."""

from collections.abc import Awaitable, Callable, Collection, Sequence

import attrs
from msgspec.structs import replace

from ganeti_tx.logic.instance.modify import new_disks, state
from ganeti_tx.logic.instance.modify.conversion import Conversion, check_conversion, check_secondary
from ganeti_tx.logic.instance.modify.disks import DiskChanges
from ganeti_tx.logic.instance.modify.nics import NicChanges
from ganeti_tx.logic.instance.modify.parameters import told_parameters, with_parameters
from ganeti_tx.logic.instance.nic_networks import Networks
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.policy import check_move
from ganeti_tx.model.disk import Disk, DiskSettings
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.nic import Nic
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance import OpInstanceSetParams
from ganeti_tx.model.opcodes.types import NicChange
from ganeti_tx.rpc.calls.instance import RunningInstance

Told = list[tuple[str, object]]


@attrs.define
class Outcome:
    """What will be.

    @ivar before, after: the instance as it is, and as it is to be.
    @ivar settings: what is other about disks that stay. @ivar told: what the operator is told of the change.
    """

    before: InstanceView
    after: InstanceView
    nics: Sequence[Nic]
    disks: DiskChanges
    settings: Sequence[DiskSettings]
    told: Told

    @property
    def come(self) -> set[str]:
        """The disks that come."""
        return {disk.uuid for disk in (*self.disks.added, *self.disks.attached)}

    @property
    def not_made(self) -> set[str]:
        """Those of them that were there before: attached ones, and what is adopted."""
        plans = self.disks.plans
        return {uuid for uuid in self.come if uuid not in plans or plans[uuid].adopt is not None}

    @property
    def come_disks(self) -> list[tuple[int, Disk]]:
        """The same, with their places."""
        return new_disks.chosen(self.after, self.come)

    @property
    def leaving(self) -> list[tuple[int, int, bool]]:
        """The places of the disks that leave, the place whose stable name goes with each, and whether their data go.

        Those that keep their data are taken down if they are ready.
        """
        before = self.before
        places = iter(range(len(self.after.disks), len(before.disks)))  # which are no disk's any more
        gone = {disk.uuid for disk in self.disks.removed}
        each = [(index, next(places, -1), before.disks[index].uuid in gone) for index in self.disks.left]
        return [(index, named, removed) for index, named, removed in each if removed or before.instance.disks_active]

    @property
    def renames(self) -> bool:
        """Whether disks that are ready have other places now."""
        former = self.before.instance
        return self.after.instance.disks != former.disks and former.disks_active and bool(self.after.disks)

    @property
    def changed(self) -> bool:
        """Whether the configuration changes."""
        return bool(self.after.instance != self.before.instance or self.settings)

    def other_nics(self) -> list[Nic]:
        """The NICs that are new or changed."""
        return [nic for nic in self.nics if nic not in self.before.instance.nics]


@attrs.define
class WorkingOut:
    """The parts of a request, one after the other; nothing is done yet.

    @ivar seen: tells what the hypervisor has of the instance.
    """

    parts: Parts
    op: OpInstanceSetParams
    view: InstanceView
    templates: Collection[DiskTemplate]
    seen: Callable[[], Awaitable[RunningInstance | None]]
    primary: Node | None
    secondary: Node | None

    async def outcome(self, nic_changes: Sequence[NicChange], named: Networks) -> Outcome:
        """The instance with all changes. @raise OpPrereqError: one of them cannot be."""
        view, config = self.view, self.parts.config
        wanted = await self._with_parameters()
        group = await config.group((self.primary or view.primary).group)
        networks = await config.networks()
        known = {**{each.name: each for each in networks}, **named}
        nics = NicChanges(self.parts, view, group, known, networks, self.op.conflicts_check)
        await nics.make(nic_changes)
        changes = await self._disks()
        disks = changes.disks if self.primary is None else state.moved(changes.disks, self.primary)
        wanted = replace(wanted, nics=nics.nics, disks=tuple(disk.uuid for disk in disks))
        told = [*changes.told, *nics.told, *told_parameters(self.op)]
        if self.op.offline is not None:
            wanted = await state.with_state(view, wanted, self.op.offline, self.seen)
            told.append(("admin_state", wanted.admin_state.value))
        nodes = [*view.nodes.values(), *(node for node in (self.primary, self.secondary) if node is not None)]
        others = {uuid for disk in changes.attached for uuid in disk.nodes} - view.nodes.keys()
        nodes += [await config.node(uuid) for uuid in sorted(others)]
        groups = [group, *[await config.group(node.group) for node in nodes if node.uuid in others]]
        return Outcome(
            before=view,
            after=state.viewed_with(view, wanted, disks, nodes, groups, networks),
            nics=nics.nics,
            disks=changes,
            settings=state.new_settings([*view.disks, *changes.detached], disks),
            told=told,
        )

    async def _with_parameters(self) -> Instance:
        """With its parameters, on its new node."""
        view = self.view
        wanted = with_parameters(self.op, view.cluster, view.instance)
        if self.primary is None:
            return wanted
        target = await self.parts.config.group(self.primary.group)
        await state.check_new_primary(view, self.primary, target, self.seen)
        check_move(view, target, ignored=self.op.ignore_ipolicy, warn=self.parts.warn)
        return replace(wanted, primary_node=self.primary.uuid)

    async def _disks(self) -> DiskChanges:
        """Changes of single disks, or other disks altogether."""
        if self.op.disk_template is None:
            free = await self.parts.config.detached_disks() if self.op.disks else ()
            changes = DiskChanges(self.parts, self.view, free)
            await changes.make(self.op.disks)
            return changes
        template = check_conversion(self.op, self.view, self.templates)
        check_secondary(self.op, self.view, template, self.secondary)
        conversion = Conversion(self.parts, self.view, (), self.secondary)
        await conversion.check()
        await conversion.convert(self.op, template)
        return conversion
