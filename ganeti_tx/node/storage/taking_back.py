"""Several operations on devices that are done together or not at all."""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from attrs import define, field
from twisted.logger import Logger

from ganeti_tx.errors import GanetiError

log = Logger()


@define
class TakingBack:
    """Leaving the block by an error or a cancellation takes back what was done, last first; the error goes on.

    What cannot be taken back is logged, and keeps nothing else from being taken back.
    """

    _done: list[tuple[Callable[..., Awaitable[object]], tuple[Any, ...]]] = field(factory=list)

    def undo(self, action: Callable[..., Awaitable[object]], *args: Any) -> None:
        """Remember how to take back what was just done."""
        self._done.append((action, args))

    async def __aenter__(self) -> "TakingBack":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):  # a coroutine that is thrown away does nothing any more
            await self.now()

    async def now(self) -> None:
        """Take all back."""
        while self._done:
            action, args = self._done.pop()
            try:
                await action(*args)
            except (GanetiError, OSError) as fault:
                log.warn("could not be taken back: {fault}", fault=str(fault))
