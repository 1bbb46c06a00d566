"""The pause of this node's watcher, as the master says it."""

from attrs import frozen

from ganeti_tx.node.answers import answers
from ganeti_tx.rpc.calls.watcher import GetWatcherPause, SetWatcherPause
from ganeti_tx.runtime.watcher_pause import PauseFile


@frozen
class WatcherPauseCalls:
    """Kept in a file that the watcher reads."""

    pause: PauseFile

    @answers(SetWatcherPause)
    async def set(self, call: SetWatcherPause) -> None:
        """Until then, or not any more."""
        await self.pause.set(call.until)

    @answers(GetWatcherPause)
    async def get(self, call: GetWatcherPause) -> float | None:
        """A pause that is over is none."""
        return self.pause.get()
