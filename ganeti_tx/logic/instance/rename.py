"""Giving an instance another name."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.logic.disks.marking import mark_disks
from ganeti_tx.logic.disks.moving import MOVE, Moved, moved_disks, rename_disks
from ganeti_tx.logic.disks.on_nodes import assemble_elsewhere, disk_nodes, shutdown_disks, shutdowns
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.image_run.installing import is_untrusted
from ganeti_tx.logic.instance.create_checks import check_address, check_no_machine
from ganeti_tx.logic.instance.hook_values import instance_values
from ganeti_tx.logic.instance.new_name import check_name, resolved_name
from ganeti_tx.logic.instance.presence import stop
from ganeti_tx.logic.instance.stopped import CLEAR, check_node_online, check_stopped
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.questions import ask
from ganeti_tx.logic.undos import in_config
from ganeti_tx.logic.wanted_locks import on_instance
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.opcodes.instance import OpInstanceRename
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.calls.instance import InstanceRunRename
from ganeti_tx.rpc.calls.os import OsValidate
from ganeti_tx.rpc.interfaces import RpcError

NAME, DOWN, SCRIPT = "rename the instance", "shut down its disks", "run the OS rename script"


class LUInstanceRename(InstanceUnit[OpInstanceRename]):
    """Rename disks that are named after it, then itself, then what its guest calls itself; all but the last is taken back."""

    hook = Hook("instance-rename", HookObject.INSTANCE, asked={"INSTANCE_NEW_NAME": "new_name"})

    _name: str
    _address: str | None = None
    _left_over: bool = False
    _has_script: bool = False
    _moved: Sequence[Moved] = ()

    async def expand_names(self) -> None:
        """The instance, and its new name in full."""
        await super().expand_names()
        if self.op.ip_check and not self.op.name_check:
            raise OpPrereqError("IP address check requires a name check: give up both or none", ECode.INVAL)
        if self.op.name_check:
            self._name, self._address = await resolved_name(self.op.new_name, self.context.resolve, self.info)
        else:
            self._name = check_name(self.op.new_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The new name too, so that nobody else takes it."""
        wanted = list(await super().locks_at(level))
        if level is Level.INSTANCE and self._name != self._named.name:
            wanted.append(on_instance(self._name, Mode.EXCLUSIVE))
        return wanted

    def new_names(self) -> Sequence[str]:
        """Its own."""
        return (self._name,)

    async def check(self) -> None:
        """The name is free, the instance is stopped, its OS can be told."""
        await super().check()
        if self._renames:
            await self._check_free()
        check_node_online(self.target, "rename")
        if self._renames:
            await check_no_machine(self.nodes, self.target.primary, self._name, self.instance.hypervisor)
        self._left_over = await check_stopped(self.nodes, self.target, "rename") is not None
        if self.instance.disks and self.instance.os:
            await self._check_script()
        self._moved = moved_disks(self.target, self._name)

    @property
    def _renames(self) -> bool:
        return self._name != self.instance.name

    async def _check_free(self) -> None:
        if self._name in await self.config.instance_names():
            raise OpPrereqError(f"Instance '{self._name}' is already in the cluster", ECode.EXISTS)
        if self.op.ip_check:
            cluster, nodes = await self.config.cluster(), await self.config.nodes()
            await check_address(self._name, self._address, cluster, nodes, self.context.ping)

    async def _check_script(self) -> None:
        """@raise OpPrereqError: the OS has no script that renames (design-2.0, "The Scripts")."""
        if await is_untrusted(self, self.target, self.instance.os):
            self.warn(
                f"OS {self.instance.os} has no script that node {self.target.primary.name} may run: what is installed keeps"
                " its name, unless it asks the metadata service for it"
            )
            return
        call = OsValidate(
            required=False, os_name=self.instance.os, checks=[], osparams={}, force_variant=True, scripts=["rename"]
        )
        self._has_script = await ask(self.nodes, self.target.primary, call)
        if not self._has_script:
            self.warn(
                f"OS {self.instance.os} is not on node {self.target.primary.name}: what is installed keeps its name"
            )

    async def hook_values(self) -> Mapping[str, object]:
        """The instance by its old name also afterwards, when its disks have their new places, and the new name."""
        known = instance_values(self._by_old_name(self.target))
        return {**await super().hook_values(), **known, "INSTANCE_NEW_NAME": self._name}

    def plan(self) -> Plan:
        """Each part of what is named after it."""
        instance, disks = (f"instance {self.instance.name}",), disk_nodes(self.target)
        steps = []
        if self._left_over:
            steps.append(PlannedStep(CLEAR, (self.target.primary.name,), instance))
        if self._moved:
            steps.append(PlannedStep(MOVE, disks, instance))
        steps.append(PlannedStep(NAME, (), (*instance, f"instance {self._name}")))
        if self.instance.disks_active:
            steps.append(PlannedStep(DOWN, disks, (f"instance {self._name}",)))
        if self._has_script:
            steps.append(PlannedStep(SCRIPT, disks, (f"instance {self._name}",)))
        return steps

    async def execute(self) -> str:
        """Gives the new name."""
        before = self.target
        if self._left_over:
            async with self.step(CLEAR):
                await stop(self.nodes, before, 0, self.warn, force=True)
        if self._moved:
            await rename_disks(self.nodes, self._moved, self.context.steps)
        async with self.step(NAME, self._old_name()):
            ids = {each.disk.uuid: each.logical_id for each in self._moved}
            await self.config.rename_instance(before.instance.uuid, self._name, ids)
        if before.instance.disks_active:
            await self._take_down()
        after = await self.config.instance_view(before.instance.uuid)
        if self._renames:
            await mark_disks(self.nodes, after, after.instance.disks, self.warn)
        if self._has_script:
            await self._tell_guest(after)
        if self._renames:
            await self.context.locks.remove(Lock(Level.INSTANCE, before.instance.name))
        return self._name

    def _old_name(self) -> Undo:
        instance = self.instance
        return in_config(
            f"rename instance {self._name} back to {instance.name}",
            IConfig.rename_instance,
            instance.uuid,
            instance.name,
            {each.disk.uuid: each.disk.logical_id or () for each in self._moved},
        )

    async def _take_down(self) -> None:
        """Disks that somebody has made ready have their stable names by the old one."""
        after = await self.config.instance_view(self.instance.uuid)
        async with self.step(DOWN):
            await shutdown_disks(self.nodes, self._by_old_name(after), self.warn)
            held = after.instance
            await self.config.set_instance_state(held.uuid, held.admin_state, held.admin_state_source, False)

    def _by_old_name(self, view: InstanceView) -> InstanceView:
        return replace(view, instance=replace(view.instance, name=self._named.name))

    async def _tell_guest(self, after: InstanceView) -> None:
        """Run the script; the instance is renamed also if that fails, as nobody could tell how far it came."""
        async with self.step(SCRIPT, *shutdowns(after)):
            await assemble_elsewhere(self.nodes, after, self.warn)
            call = InstanceRunRename(instance=after.spec(), old_name=self._named.name, debug=self.op.debug_level or 0)
            try:
                await self.nodes.call(after.primary, call)
            except RpcError as error:
                self.warn(
                    f"Could not run OS rename script for instance {self._name} on node {after.primary.name} "
                    f"(but the instance has been renamed in Ganeti): {error}"
                )
            await shutdown_disks(self.nodes, after, self.warn)
