"""Waiting, to test the queue and the locks."""

from collections.abc import Sequence

from ganeti_tx.errors import ECode, OpExecError, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_nodes
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.test import OpTestDelay
from ganeti_tx.rpc.calls.node import TestDelay

WAIT = "wait"
#: Each is a line in the job's log.
MOST_ROUNDS = 10_000


class LUTestDelay(LogicalUnit[OpTestDelay]):
    """Wait on the master, then on all the nodes at the same time; with `repeat` so many times."""

    _targets: list[Node]

    async def expand_names(self) -> None:
        """The nodes to wait on."""
        named = self.op.on_node_uuids or self.op.on_nodes
        self._targets = await self.config.nodes(list(named)) if named else []

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The nodes, shared."""
        if level is not Level.NODE or self.op.no_locks:
            return ()
        return on_nodes((node.uuid for node in self._targets), Mode.SHARED)

    async def check(self) -> None:
        """A span of time that can be waited."""
        if not 0 <= self.op.duration < float("inf"):
            raise OpPrereqError(f"duration {self.op.duration} is not allowed; it must be at least 0 s", ECode.INVAL)
        if self.op.repeat > MOST_ROUNDS:
            raise OpPrereqError(
                f"repeat {self.op.repeat} is not allowed; it must be at most {MOST_ROUNDS}", ECode.INVAL
            )
        if self.op.interruptible:
            raise OpPrereqError("interruptible delays are not available; leave out interruptible", ECode.INVAL)

    def plan(self) -> Plan:
        """One step, however often."""
        places = int(self.op.on_master) + bool(self._targets)
        seconds = self.op.duration * places * (self.op.repeat or 1)
        return [PlannedStep(WAIT, tuple(node.name for node in self._targets), (), seconds)]

    async def execute(self) -> None:
        """Wait."""
        async with self.step(WAIT):
            if not self.op.repeat:
                await self._wait()
            for round_number in range(self.op.repeat):
                self.info(f"- INFO: Test delay iteration {round_number}/{self.op.repeat - 1}")
                await self._wait()

    async def _wait(self) -> None:
        if self.op.on_master:
            await self.pause(self.op.duration)
        if not self._targets:
            return
        answers = await self.nodes.call_many(self._targets, TestDelay(duration=self.op.duration))
        failed = [f"{name}: {answer.error}" for name, answer in sorted(answers.items()) if answer.error is not None]
        if failed:
            raise OpExecError(f"the delay failed on {'; '.join(failed)}")
