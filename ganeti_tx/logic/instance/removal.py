"""Taking an instance that is stopped out of the cluster, with its disks."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.errors import OpExecError
from ganeti_tx.locking.interfaces import ILocks
from ganeti_tx.locking.levels import Level, Lock
from ganeti_tx.logic.disks.on_nodes import disk_nodes, remove_disks
from ganeti_tx.logic.disks.wipe import WIPE_OLD, to_wipe, wipe_whole, wiping
from ganeti_tx.logic.instance.moves.kept_state import forget
from ganeti_tx.logic.parts import Parts
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.rpc.calls.disk import BlockdevStates

MARK, DISKS, FORGET = "mark the instance as down", "remove its disks", "remove the instance from the configuration"
FIRMWARE = "remove the variables of its firmware and its TPM"


@frozen
class Removal:
    """In the configuration it is to the last; a failure leaves it there, marked down, so that the removal can be repeated.

    @ivar keepers: the nodes that keep something of it beside its disks.
    @ivar advice: what helps when something cannot be done, and failures are not to be ignored.
    """

    parts: Parts
    locks: ILocks
    target: InstanceView
    ignore_failures: bool
    advice: str
    keepers: Sequence[Node] = ()

    @property
    def instance(self) -> Instance:
        """Which one."""
        return self.target.instance

    def plan(self) -> Plan:
        """What it is, and what it has."""
        instance = (f"instance {self.instance.name}",)
        steps = []
        if self.instance.admin_state is not AdminState.OFFLINE:
            steps.append(PlannedStep(MARK, (), instance))
        steps += wiping(self.target, to_wipe(self.target), WIPE_OLD)
        steps.append(PlannedStep(DISKS, disk_nodes(self.target), instance))
        if self.keepers:
            steps.append(PlannedStep(FIRMWARE, tuple(node.name for node in self.keepers), instance))
        return [*steps, PlannedStep(FORGET, (), instance)]

    async def execute(self) -> None:
        """@raise OpExecError: something could not be done, and that is not to be ignored."""
        if self.instance.admin_state is not AdminState.OFFLINE:
            async with self.parts.step(MARK):
                await self.parts.config.set_instance_state(
                    self.instance.uuid, AdminState.DOWN, AdminStateSource.ADMIN, self.instance.disks_active
                )
        await self._wipe()
        async with self.parts.step(DISKS):
            if not await remove_disks(self.parts.nodes, self.target, self.parts.warn):
                self.unless_ignored(f"cannot remove the disks of instance {self.instance.name}")
        await self._remove_firmware()
        await self.forget()

    async def _remove_firmware(self) -> None:
        if not self.keepers:
            return
        async with self.parts.step(FIRMWARE):
            for node in self.keepers:
                await forget(self.parts, self.target, node)

    async def _wipe(self) -> None:
        """What is there of the disks, where the cluster wants no data to be found by others."""
        if not (wiped := to_wipe(self.target)):
            return
        try:
            found = await self.parts.nodes.call(self.target.primary, BlockdevStates(disks=self.target.disk_specs()))
            there = [index for index in wiped if found[index].status is not None]
            await wipe_whole(self.parts, self.target, there, WIPE_OLD)
        except OpExecError as error:
            self.unless_ignored(str(error))

    async def forget(self) -> None:
        """The last step."""
        async with self.parts.step(FORGET):
            await self.parts.config.remove_instance(self.instance.uuid)
        await self.locks.remove(Lock(Level.INSTANCE, self.instance.name))

    def unless_ignored(self, problem: str) -> None:
        """@raise OpExecError: failures are not to be ignored."""
        if not self.ignore_failures:
            raise OpExecError(f"{problem}; {self.advice}")
        self.parts.warn(f"{problem}; going on, as failures are to be ignored")
