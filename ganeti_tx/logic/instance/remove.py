"""Deleting an instance."""

from ganeti_tx.errors import OpExecError
from ganeti_tx.locking.levels import Level, Lock
from ganeti_tx.logic.disks.on_nodes import disk_nodes, remove_disks
from ganeti_tx.logic.disks.wipe import WIPE_OLD, to_wipe, wipe_whole, wiping
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.instance.presence import stop
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.model.enums import AdminState, AdminStateSource
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.opcodes.instance import OpInstanceRemove
from ganeti_tx.rpc.calls.disk import BlockdevStates

STOP, MARK = "stop the instance", "mark the instance as down"
DISKS, FORGET = "remove its disks", "remove the instance from the configuration"


class LUInstanceRemove(InstanceUnit[OpInstanceRemove]):
    """Stop the instance, remove its disks, forget it. What cannot be done stops the rest, unless failures are ignored."""

    hook = Hook(
        "instance-remove", HookObject.INSTANCE, pre=HookNodes.MASTER, asked={"SHUTDOWN_TIMEOUT": "shutdown_timeout"}
    )

    takes_forthcoming = True

    async def read_again(self) -> None:
        """It is not there any more: hooks are told what it was."""

    def plan(self) -> Plan:
        """What runs, what it is, what it has; in the configuration it is to the last."""
        instance, node = (f"instance {self.instance.name}",), (self.target.primary.name,)
        if self.instance.forthcoming:
            return [PlannedStep(FORGET, (), instance)]
        steps = [PlannedStep(STOP, node, instance, self.op.shutdown_timeout)]
        if self.instance.admin_state is not AdminState.OFFLINE:
            steps.append(PlannedStep(MARK, (), instance))
        steps += wiping(self.target, to_wipe(self.target), WIPE_OLD)
        return [*steps, PlannedStep(DISKS, disk_nodes(self.target), instance), PlannedStep(FORGET, (), instance)]

    async def execute(self) -> None:
        """Remove it. A failure leaves it in the configuration, marked down, so that the removal can be repeated."""
        if not self.instance.forthcoming:
            await self._clear_node()
        await self._forget()

    async def _clear_node(self) -> None:
        name = self.instance.name
        self.info(f"Shutting down instance {name} on node {self.target.primary.name}")
        async with self.step(STOP):
            await self._stop()
        if self.instance.admin_state is not AdminState.OFFLINE:
            async with self.step(MARK):
                await self.config.set_instance_state(
                    self.instance.uuid, AdminState.DOWN, AdminStateSource.ADMIN, self.instance.disks_active
                )
        await self._wipe()
        self.info(f"Removing block devices for instance {name}")
        async with self.step(DISKS):
            if not await remove_disks(self.nodes, self.target, self.warn):
                self._unless_ignored(f"cannot remove the disks of instance {name}")

    async def _wipe(self) -> None:
        """What is there of the disks, where the cluster wants no data to be found by others."""
        if not (wiped := to_wipe(self.target)):
            return
        try:
            found = await self.nodes.call(self.target.primary, BlockdevStates(disks=self.target.disk_specs()))
            there = [index for index in wiped if found[index].status is not None]
            await wipe_whole(self, self.target, there, WIPE_OLD)
        except OpExecError as error:
            self._unless_ignored(str(error))

    async def _forget(self) -> None:
        name = self.instance.name
        self.info(f"Removing instance {name} out of cluster config")
        async with self.step(FORGET):
            await self.config.remove_instance(self.instance.uuid)
        await self.context.locks.remove(Lock(Level.INSTANCE, name))

    async def _stop(self) -> None:
        try:
            await stop(self.nodes, self.target, self.op.shutdown_timeout)
        except OpExecError as error:
            self._unless_ignored(str(error))

    def _unless_ignored(self, problem: str) -> None:
        """@raise OpExecError: failures are not to be ignored."""
        if not self.op.ignore_failures:
            raise OpExecError(
                f"{problem}; when that is mended, remove it again, or forget what is there: --ignore-failures"
            )
        self.warn(f"{problem}; going on, as failures are to be ignored")
