"""Every step brings its undo: what was done is taken back, last first, when a later step fails."""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from twisted.internet.defer import CancelledError
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError, error_text
from ganeti_tx.logic.safe_points import SafePoints

log = Logger()

Undo = tuple[Callable[..., Awaitable[Any]], tuple[Any, ...]]


class Rollback:
    """Leaving the block by an error (a cancellation too) runs the undo steps, last first; the error goes on.

    An undo step that fails is logged, told to the operator, and does not keep the others from running; a job that is to
    stop does not stop in its undo steps. Units make theirs with `self.rollback()`.
    """

    def __init__(self, warn: Callable[[str], None], safe_points: SafePoints | None = None) -> None:
        self._warn = warn
        self._safe_points = safe_points or SafePoints()
        self._steps: list[Undo] = []

    def undo(self, step: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Remember how to take back what was just done."""
        self._steps.append((step, args))

    def leave_rest(self) -> None:
        """What was done before stays: to be called by an undo step without which the others would do harm."""
        self._steps.clear()

    async def __aenter__(self) -> "Rollback":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            return
        with self._safe_points.shield():
            while self._steps:
                step, args = self._steps.pop()
                await self._take_back(step, args)

    async def _take_back(self, step: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
        try:
            await step(*args)
        except (GanetiError, OSError) as fault:
            log.error("undoing failed: {fault}", fault=error_text(fault))
            self._warn(f"could not undo a step: {error_text(fault)}")
        except CancelledError:
            raise
        except Exception as fault:  # one of ours; what else is to be taken back must not stay for it
            log.failure("undoing broke")
            self._warn(
                f"could not undo a step: internal error ({error_text(fault)}); the log of all jobs (jobs.log) has more"
            )
