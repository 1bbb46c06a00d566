"""The drain flag: while its file is there, no new jobs are taken."""

from collections.abc import Awaitable, Callable

from attrs import define

from ganeti_tx.errors import JobQueueError
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.files_retry import in_place
from ganeti_tx.runtime.paths import Paths

FILE_MODE = 0o644


@define
class DrainFlag:
    """The flag here and on the candidates."""

    files: IFiles
    paths: Paths
    tell_candidates: Callable[[bool], Awaitable[None]]

    def is_set(self) -> bool:
        """Whether submissions are refused."""
        return self.files.exists(self.paths.queue_drain_file)

    async def set(self, drained: bool) -> bool:
        """Set or remove it; always true (Ganeti 3.0 LUXI table). @raise JobQueueError: it could not be; nothing changed."""
        try:
            if drained:
                await in_place(self.files.write_atomic(self.paths.queue_drain_file, b"", FILE_MODE))
            elif self.is_set():
                self.files.remove(self.paths.queue_drain_file)
        except OSError as error:
            verb = "set" if drained else "removed"
            why = error.strerror or error
            raise JobQueueError(f"the drain flag {self.paths.queue_drain_file} cannot be {verb}: {why}")
        await self.tell_candidates(drained)
        return True
