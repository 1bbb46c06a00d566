"""The jobs of a burnin: one for each instance in each step, followed to their ends."""

from collections.abc import Mapping, Sequence

from attrs import define, field

from ganeti_tx.burnin.exports import Exports
from ganeti_tx.burnin.operations import Part
from ganeti_tx.burnin.wanted import Wanted
from ganeti_tx.cli.interrupts import held_back
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.progress import follow
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, prepared
from ganeti_tx.errors import GanetiError, OpExecError, error_text, one_line

#: By the names of instances.
Work = Mapping[str, Sequence[Part]]


def explained(session: Session, wanted: Wanted, title: str, op: OpCode) -> OpCode:
    """An opcode as it is sent: with the reason that was given, and the step that it belongs to."""
    session.command = title
    return prepared(session, Parsed({"debug": wanted.debug, "reason": wanted.reason}), op)


@define
class Jobs:
    """Those of one burnin; what has not ended is known, so that it can be stopped."""

    session: Session
    wanted: Wanted
    exports: Exports
    #: When each was submitted.
    _open: dict[int, float] = field(factory=dict)

    def do(self, title: str, work: Work, *, together: bool, go_on: bool = False) -> None:
        """Do all of it, and tell how it went.

        @param title: of the step, which stands in the jobs' reason trails.
        @param together: whether all jobs are submitted at once. @param go_on: whether the rest is done when one has failed.
        @raise OpExecError: one or more have failed, and how.
        """
        failed = []
        submitted = {name: self._submit(title, name, parts) for name, parts in work.items() if together}
        for name, parts in work.items():
            job_id = submitted[name] if together else self._submit(title, name, parts)
            if job_id is None:
                continue
            try:
                self._follow(name, job_id)
                self.exports.done(parts)
            except OpExecError as error:
                failed.append(str(error))
                if not (together or go_on):
                    break
        if failed:
            raise OpExecError("; ".join(failed))

    def _submit(self, title: str, name: str, parts: Sequence[Part]) -> int | None:
        """None: it must not be. An interrupt must not come between a job and the knowledge of it."""
        if why_not := self.exports.why_not(parts):
            self.session.print(f"  * {name}: left out ({why_not})")
            return None
        self.session.print(f"  * {name}: {'; '.join(part.what for part in parts)}")
        ops = [explained(self.session, self.wanted, title, part.op) for part in parts]
        with held_back() as interrupts:
            job_id = self.session.client.submit_job(ops)
            self._open[job_id] = self.session.now()
            self.exports.submitted(parts)
        if interrupts:
            raise KeyboardInterrupt
        return job_id

    def _follow(self, name: str, job_id: int) -> None:
        """@raise OpExecError: it has failed."""
        try:
            follow(self.session, job_id, quiet=not self.wanted.verbose, goes_on=False)
        except GanetiError as error:
            del self._open[job_id]
            raise OpExecError(f"job {job_id} of {name} has failed: {one_line(error_text(error))}") from None
        took = self.session.now() - self._open.pop(job_id)
        self.session.print(f"    {name}: job {job_id} is done, {took:.1f} s after it was submitted")

    def stop(self) -> None:
        """Cancel what has not ended, and wait for what cannot be cancelled: nothing may be done beside the removal."""
        for job_id in self._open:
            self.session.warn(f"    job {job_id} is cancelled")
            self._quietly(job_id, cancel=True)
        for job_id in tuple(self._open):
            self._quietly(job_id, cancel=False)
            del self._open[job_id]

    def _quietly(self, job_id: int, *, cancel: bool) -> None:
        """How it ends does not matter any more."""
        try:
            if cancel:
                self.session.client.cancel_job(job_id)
            else:
                follow(self.session, job_id, quiet=True, goes_on=False)
        except GanetiError as error:
            self.session.warn(f"    job {job_id}: {error_text(error)}")
