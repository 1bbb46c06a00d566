"""What a fresh process does with a job whose process died half-way: it takes back what was begun, and ends the job."""

from collections.abc import Sequence

from attrs import define
from twisted.internet.interfaces import IReactorTime

from ganeti_tx.errors import GanetiError, JobCanceled, OpExecError, error_text
from ganeti_tx.jobs.cancellation import named
from ganeti_tx.jobs.insisting import Insisting
from ganeti_tx.jobs.journal import Journal
from ganeti_tx.jobs.taking_back import TakingBack
from ganeti_tx.locking.interfaces import ILocks, LockRequest
from ganeti_tx.locking.levels import Lock, Mode
from ganeti_tx.logic.steps import STEP, undo_all
from ganeti_tx.model.undo import Undo, UndoRecord
from ganeti_tx.queue.job import HIGHEST_PRIORITY

#: Seconds for which nodes that cannot be reached are tried again, all undos together; after a power cut they come back.
NODES_LIMIT = 120.0
#: Seconds to wait for locks that somebody else has got meanwhile.
LOCKS_LIMIT = 600.0


@define
class Recovery:
    """Takes back what one opcode has begun."""

    journal: Journal
    index: int
    locks: ILocks
    take_back: TakingBack
    clock: IReactorTime

    async def run(self, record: UndoRecord) -> GanetiError:
        """Take back all that can be; the error by which the opcode ends: what died, what was taken back, what was not.

        The locks are held when it returns. @raise LockError: nor were they before, as WConfD could not be asked.
        """
        cause = record.cause or "its process died"
        self._say(f"Taking back what was begun: {cause}")
        try:
            await self.take_back.config.take_over_reservations()
            await self._take_locks(record.locks)
        except GanetiError as error:
            return self._error(record, cause, record.steps, f"; its locks could not be had: {error_text(error)}")
        take_back = Insisting(self.take_back, self.clock, NODES_LIMIT)

        async def one(undo: Undo) -> None:
            await take_back(undo)
            self.journal.add_log(self.index, STEP, {"title": undo.title, "state": "taken back"})

        left = await undo_all(list(record.steps), one, lambda text: self._say(f"- WARNING: {text}"))
        return self._error(record, cause, left)

    async def _take_locks(self, recorded: dict[str, str]) -> None:
        """Those that the dead process held; when nobody has kept them, those that the file names."""
        if not await self.locks.take_over():
            wanted = [LockRequest(Lock.parse(name), Mode(mode)) for name, mode in recorded.items()]
            await self.locks.update(sorted(wanted, key=lambda each: each.lock), HIGHEST_PRIORITY, LOCKS_LIMIT)

    def _say(self, text: str) -> None:
        self.journal.add_log(self.index, "message", text)

    def _error(self, record: UndoRecord, cause: str, left: Sequence[Undo], more: str = "") -> GanetiError:
        done = [undo for undo in reversed(record.steps) if undo not in left]
        text = f"{cause}; taken back: {titles(done)}"
        if left:
            text += f"; could not be taken back, see the job's log: {titles(left)}"
        return JobCanceled(text + more) if record.killed else OpExecError(text + more)


def titles(undos: Sequence[Undo]) -> str:
    """What they do, for a sentence."""
    return named([undo.title for undo in undos])
