"""Failing an instance over."""

from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.moves.checks import check_target
from ganeti_tx.logic.instance.moves.cleaning_up import CleaningUp
from ganeti_tx.logic.instance.moves.failing_over import FailingOver
from ganeti_tx.logic.instance.moves.new_pair import NewPair
from ganeti_tx.logic.instance.moves.unit import MoveUnit
from ganeti_tx.logic.plan import Plan
from ganeti_tx.logic.ratios import warn_of_ratios
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.opcodes.instance_place import OpInstanceFailover


class LUInstanceFailover(MoveUnit[OpInstanceFailover]):
    """Stop the instance where it is, start it where it is to be; what fails half-way runs again where it was."""

    hook = Hook(
        "instance-failover",
        HookObject.INSTANCE,
        asked={
            "IGNORE_CONSISTENCY": "ignore_consistency",
            "SHUTDOWN_TIMEOUT": "shutdown_timeout",
            "FAILOVER_CLEANUP": "cleanup",
        },
    )
    doing = "failovers"
    done = "failed over"

    _work: FailingOver | CleaningUp | NewPair

    async def check(self) -> None:
        """The target is well, and has what the instance needs."""
        await super().check()
        if self.op.cleanup:
            self._work, self.move = await self.look_for_it()
            return
        self.move = await self.destination.decide(self.target)
        await check_target(self.nodes, self.move, ignore_policy=self.op.ignore_ipolicy, warn=self.warn)
        await warn_of_ratios(self, self.move.after, ignored=self.op.ignore_ipolicy)
        self._work = self.failing_over(
            self.op.shutdown_timeout, ignore_consistency=self.op.ignore_consistency, waits=self.op.wait_for_sync
        )
        await self._work.check()

    def plan(self) -> Plan:
        """See `FailingOver` and `NewPair`."""
        return [*self.user_down.plan(), *self._work.plan()]

    async def execute(self) -> None:
        """Do it."""
        await self.user_down.clear()
        await self._work.run()
