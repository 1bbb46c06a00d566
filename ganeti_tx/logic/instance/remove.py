"""Deleting an instance."""

from collections.abc import Sequence

from ganeti_tx.errors import OpExecError
from ganeti_tx.logic.hook import Hook, HookNodes
from ganeti_tx.logic.instance.moves.kept_state import keepers
from ganeti_tx.logic.instance.presence import stop
from ganeti_tx.logic.instance.removal import FORGET, Removal
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance import OpInstanceRemove

STOP = "stop the instance"


class LUInstanceRemove(InstanceUnit[OpInstanceRemove]):
    """Stop the instance, remove its disks, forget it. What cannot be done stops the rest, unless failures are ignored."""

    hook = Hook(
        "instance-remove", HookObject.INSTANCE, pre=HookNodes.MASTER, asked={"SHUTDOWN_TIMEOUT": "shutdown_timeout"}
    )

    takes_forthcoming = True

    _keepers: Sequence[Node] = ()

    async def check(self) -> None:
        """Which nodes keep something of it; any may, as moves break off."""
        await super().check()
        if not self.instance.forthcoming:
            self._keepers = await keepers(self, self.target, await self.config.nodes())

    async def read_again(self) -> None:
        """It is not there any more: hooks are told what it was."""

    @property
    def _removal(self) -> Removal:
        name = self.instance.name
        advice = (
            f"when that is mended, 'gnt-instance remove {name}' removes it; 'gnt-instance remove --ignore-failures {name}' "
            "removes the instance all the same, and leaves what may still be there"
        )
        return Removal(self, self.context.locks, self.target, self.op.ignore_failures, advice, self._keepers)

    def plan(self) -> Plan:
        """What runs, then what is there."""
        instance, node = (f"instance {self.instance.name}",), (self.target.primary.name,)
        if self.instance.forthcoming:
            return [PlannedStep(FORGET, (), instance)]
        return [PlannedStep(STOP, node, instance, self.op.shutdown_timeout), *self._removal.plan()]

    async def execute(self) -> None:
        """Remove it."""
        if self.instance.forthcoming:
            await self._removal.forget()
            return
        async with self.step(STOP):
            await self._stop()
        await self._removal.execute()

    async def _stop(self) -> None:
        try:
            await stop(self.nodes, self.target, self.op.shutdown_timeout, self.warn)
        except OpExecError as error:
            self._removal.unless_ignored(str(error))
