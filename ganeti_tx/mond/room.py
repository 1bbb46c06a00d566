"""How much room file systems have. One whose server is gone never answers: it is asked no more until it does."""

import os
from pathlib import Path

from attrs import define, field, frozen
from twisted.internet.defer import Deferred, TimeoutError
from twisted.internet.interfaces import IReactorTime
from twisted.python.failure import Failure

from ganeti_tx.runtime.threads import IThreads

#: Seconds that a file system may take.
LIMIT = 3.0


@frozen
class Room:
    """In bytes."""

    size: int
    free: int


def room_in(directory: Path) -> Room:
    """Of the file system that has the directory, or will have it once it is there; may block for ever."""
    while not directory.exists() and directory != directory.parent:
        directory = directory.parent
    found = os.statvfs(directory)
    return Room(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)


@define(eq=False)
class Rooms:
    """Asks in threads, at most one for each directory."""

    threads: IThreads
    clock: IReactorTime
    _asked: set[Path] = field(factory=set)

    async def of(self, directory: Path) -> Room | None:
        """None when it cannot be told within the limit."""
        if directory in self._asked:
            return None
        self._asked.add(directory)
        waiting: Deferred[Room] = Deferred()

        def answered(answer: Room | Failure) -> None:
            self._asked.discard(directory)
            if not waiting.called:
                waiting.callback(answer)  # a Failure takes the error path by itself

        self.threads.run(room_in, directory).addBoth(answered)
        try:
            return await waiting.addTimeout(LIMIT, self.clock)
        except (OSError, TimeoutError):
            return None
