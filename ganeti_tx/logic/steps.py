"""A unit's way through its plan: each step is told as it begins, and brings its undo, which is written down before."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any

from attrs import define, field
from twisted.internet.defer import CancelledError
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError, OpExecError, error_text
from ganeti_tx.logic import left_volumes
from ganeti_tx.logic.plan import Plan, PlannedStep
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.model.undo import NodeUndo, Undo

log = Logger()

#: The type of a job's log entries about steps; Ganeti's own clients print such an entry as it is.
STEP = "step"


async def keep_nothing(undos: Sequence[Undo]) -> None:
    """Nobody goes on with what a death leaves."""


@define(eq=False)
class Steps:
    """A context in which the unit is executed; leaving it by an error (a cancellation too) takes back what was begun.

    The undos run last first. One that fails is logged, told to the operator, and does not keep the others from running,
    unless what was begun before must then stay; a job that is to stop does not stop in them. Then the error goes on.

    @ivar tell: takes the payload of a log entry about a step; `warn` a line for the operator.
    @ivar keep: has the undos where another process finds them when this one dies. @raise OpExecError: that cannot be.
    @ivar current: the step that is under way.
    """

    tell: Callable[[dict[str, Any]], None]
    warn: Callable[[str], None]
    take_back: Callable[[Undo], Awaitable[None]]
    keep: Callable[[Sequence[Undo]], Awaitable[None]] = keep_nothing
    safe_points: SafePoints = field(factory=SafePoints)
    plan: Plan = ()
    current: PlannedStep | None = None
    _next: int = 0
    _undos: list[Undo] = field(factory=list)
    _kept: bool = False

    @asynccontextmanager
    async def step(self, title: str, *undos: Undo) -> AsyncIterator[None]:
        """One step of the plan; those before it that were not taken are told as skipped.

        @raise OpExecError: what takes it back cannot be written down; the step has not begun.
        """
        number = next((at for at, step in enumerate(self.plan) if step.title == title and at >= self._next), None)
        if number is None or self.current is not None:
            raise RuntimeError(f"the step {title!r} is not the next one of the plan")
        self._skip_to(number)
        self._next = number + 1
        self._tell(number, "begun")
        if undos:
            await self.keep([*self._undos, *undos])
            self._kept = True
            self._undos.extend(undos)
        self.current = self.plan[number]
        try:
            yield
        finally:
            self.current = None

    def nothing_to_undo(self, undo: Undo) -> None:
        """What the step wanted to do was refused, and has surely not been begun; or a later step undoes it, too."""
        self._undos.remove(undo)

    async def settle(self, *rest: Undo) -> None:
        """What was begun so far stays, whatever becomes of the rest.

        @param rest: what is to be done of it in any case, by another process if this one dies.
        @raise OpExecError: that cannot be written down, and what was begun does not stay.
        """
        if rest:
            await self.keep(rest)
            self._kept = True
        self._undos[:] = rest
        if not rest:
            await self._keep_nothing()

    async def _keep_nothing(self) -> None:
        if self._kept:
            self._kept = False
            await self.keep([])

    def _skip_to(self, number: int) -> None:
        for skipped in range(self._next, number):
            self._tell(skipped, "skipped")

    def _tell(self, number: int, state: str) -> None:
        step = self.plan[number]
        entry: dict[str, Any] = {"step": number + 1, "of": len(self.plan), "title": step.title, "state": state}
        if step.nodes:
            entry["nodes"] = list(step.nodes)
        if step.objects:
            entry["objects"] = list(step.objects)
        if step.seconds is not None and state == "begun":
            entry["left"] = step.seconds
        self.tell(entry)

    async def __aenter__(self) -> "Steps":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, GeneratorExit):  # nobody will ever go on here: the process is gone
            return
        if error is None:
            self._skip_to(len(self.plan))
            self._undos.clear()
        else:
            with self.safe_points.shield():
                await undo_all(self._undos, self._undo, self.warn)
        await self._keep_nothing()

    async def _undo(self, undo: Undo) -> None:
        await self.take_back(undo)
        self.tell({"title": undo.title, "state": "taken back"})


async def undo_all(
    undos: list[Undo], take_back: Callable[[Undo], Awaitable[None]], warn: Callable[[str], None]
) -> list[Undo]:
    """Take back everything, last first; gives what was not taken back, and leaves the list empty.

    What has the same fault, such as a node that does not answer, is told together.
    """
    left: list[Undo] = []
    failed: list[Undo] = []
    told: dict[str, list[str]] = {}
    while undos:
        undo = undos.pop()
        fault = await fault_of(undo, take_back)
        if fault is None:
            continue
        left.append(undo)
        failed.append(undo)
        told.setdefault(fault, []).append(undo.title)
        if undo.otherwise is not None:
            told.setdefault(undo.otherwise, [])
            left.extend(reversed(undos))
            undos.clear()
    for text, titles in told.items():
        what = "a step" if len(titles) == 1 else f"{len(titles)} steps"
        warn(f"could not undo {what} ({'; '.join(titles)}): {text}" if titles else text)
    by_hand = [each.by_hand for each in failed if isinstance(each, NodeUndo) and each.by_hand is not None]
    for text in (*by_hand, *left_volumes.told(failed)):
        warn(text)
    return left


async def fault_of(undo: Undo, take_back: Callable[[Undo], Awaitable[None]]) -> str | None:
    """Take one thing back; why it could not be."""
    try:
        await take_back(undo)
    except (GanetiError, OSError) as fault:
        log.error("undoing failed: {fault}", fault=error_text(fault))
        return error_text(fault)
    except CancelledError:
        raise
    except Exception as fault:  # one of ours; what else is to be taken back must not stay for it
        log.failure("undoing broke")
        return f"internal error ({error_text(fault)}); the log of all jobs (jobs.log) has more"
    return None


def not_begun(reason: str) -> OpExecError:
    """Why a step was not begun."""
    return OpExecError(f"a step was not begun: what takes it back cannot be written down: {reason}")
