"""The undos of the opcode that runs, in the job's file, here and on the master candidates."""

from collections.abc import Sequence

from attrs import define
from msgspec import UNSET

from ganeti_tx.jobs.journal import Journal
from ganeti_tx.locking.interfaces import ILocks
from ganeti_tx.logic.steps import not_begun
from ganeti_tx.model.undo import Undo, UndoRecord
from ganeti_tx.runtime.files_errors import reason


@define
class UndoFile:
    """Keeps them for one opcode. While there are some the opcode's locks outlive its process."""

    journal: Journal
    index: int
    locks: ILocks

    async def keep(self, undos: Sequence[Undo]) -> None:
        """Returns when a successor would find these, and no others, also on the candidates that take copies.

        @raise OpExecError: they cannot be written; the file is as before.
        @raise OSError: the file still tells of what is over.
        """
        if undos:
            await self._write(undos)
        else:
            self.journal.change_op(self.index, undo=UNSET)
            await self.journal.insist()
        await self.journal.copied()

    async def _write(self, undos: Sequence[Undo]) -> None:
        before = self.journal.op(self.index).undo
        self.journal.change_op(self.index, undo=UndoRecord(steps=list(undos), locks=await self._held(before)))
        try:
            await self.journal.save()
        except OSError as error:
            self.journal.change_op(self.index, undo=before)
            raise not_begun(reason(error)) from None

    async def _held(self, before: object) -> dict[str, str]:
        """Asked once: a unit gives locks back, but takes none any more."""
        if isinstance(before, UndoRecord):
            return before.locks
        held = await self.locks.held()
        return {str(lock): held[lock].value for lock in sorted(held)}
