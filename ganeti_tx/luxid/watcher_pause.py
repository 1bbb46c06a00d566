"""The time until which the watcher leaves the cluster alone: every node is told, so that another master knows it, too."""

from collections.abc import Callable, Sequence

from attrs import frozen
from twisted.logger import Logger

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.rpc.calls.watcher import SetWatcherPause
from ganeti_tx.rpc.interfaces import INodeRpc, NodeOfflineError, Target
from ganeti_tx.runtime.watcher_pause import PauseFile

log = Logger()

#: Seconds that the nodes have to answer, while somebody waits at a terminal.
LIMIT = 10.0


@frozen
class WatcherPause:
    """Set on the master. @ivar others: all other nodes."""

    file: PauseFile
    rpc: INodeRpc
    others: Callable[[], Sequence[Target]]

    async def set(self, end: float | None) -> float | None:
        """Pause until then, or not any more. A node that cannot be told is named in the log.

        @raise OpPrereqError: that time has passed.
        """
        if end is not None and end < self.file.now():
            raise OpPrereqError(f"the watcher cannot be paused until {end:.0f}: that time has passed", ECode.INVAL)
        await self.file.set(end)
        outcomes = await self.rpc.call_many(self.others(), SetWatcherPause(until=end), LIMIT)
        for node, outcome in outcomes.items():
            if outcome.error is not None and not isinstance(outcome.error, NodeOfflineError):
                log.warn("the watcher of {node} knows nothing of its pause: {why}", node=node, why=outcome.error)
        return end
