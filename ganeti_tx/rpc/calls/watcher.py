"""Calls about the watcher, which runs on every node."""

from collections.abc import Iterable
from typing import ClassVar

from ganeti_tx.rpc.calls.base import URGENT, NodeCall, Question


class SetWatcherPause(NodeCall[None], frozen=True, kw_only=True):
    """Have the node's watcher do nothing until a time in seconds since the epoch; None: have it go on."""

    name: ClassVar[str] = "set_watcher_pause"
    timeout: ClassVar[float] = URGENT
    until: float | None

    def reserves(self) -> Iterable[str]:
        """What was said last holds."""
        return ("the watcher's pause",)


class GetWatcherPause(Question[float | None], frozen=True, kw_only=True):
    """Until when is the node's watcher paused? None: it is not."""

    name: ClassVar[str] = "get_watcher_pause"
    timeout: ClassVar[float] = URGENT
