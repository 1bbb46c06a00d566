"""One job from its first opcode to its last: find the logical unit, take its locks, check, do it, write down how it went."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec
from attrs import define, field
from twisted.internet.defer import CancelledError, Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import (
    GanetiError,
    JobCanceled,
    OpExecError,
    OpPrereqError,
    decode_error,
    encode_error,
    error_text,
)
from ganeti_tx.jobs.cancellation import NOT_BEGUN, account, outcome
from ganeti_tx.jobs.hooks import HookRun
from ganeti_tx.jobs.insisting import Insisting
from ganeti_tx.jobs.journal import Journal, indented
from ganeti_tx.jobs.lock_attempts import MayGoOn, SteppedBack, after_failed_attempt
from ganeti_tx.jobs.lock_taking import LockTaking
from ganeti_tx.jobs.recovery import Recovery
from ganeti_tx.jobs.stoppable import StoppableConfig, StoppableNodes
from ganeti_tx.jobs.taking_back import TakingBack
from ganeti_tx.jobs.undo_file import UndoFile
from ganeti_tx.locking.interfaces import AttemptFailed, ILocks
from ganeti_tx.logic.master_state import MasterState
from ganeti_tx.logic.plan import described
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.logic.scopes import check_named, check_scopes
from ganeti_tx.logic.steps import STEP, Steps
from ganeti_tx.logic.unit import LogicalUnit, Ping, Resolve, UnitContext, UnitTable
from ganeti_tx.model.group_scopes import GroupScopes
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes import OpCode, decode
from ganeti_tx.model.remote_moves import DomainSecret
from ganeti_tx.model.signature import signed_as
from ganeti_tx.model.undo import UndoRecord
from ganeti_tx.queue.job import FINAL, Status, put_back, submitted_priority, timestamp, with_priority
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.runtime.files_errors import reason

log = Logger()

#: Seconds for which a node that an undo does not reach is tried again: its daemon, if it has died, is back by then.
RETURN_LIMIT = 20.0

SubmitJobs = Callable[[Sequence[Sequence[OpCode]]], Awaitable[list[tuple[bool, Any]]]]


@define
class JobRun:
    """The run of one job by one process.

    An opcode that fails fails its job and the opcodes after it. A stop that was asked for takes effect at once while the
    opcode waits for its locks, at its next safe point while it runs, and else before the next opcode.
    """

    journal: Journal
    units: UnitTable
    config: IConfig
    locks: ILocks
    nodes: INodeRpc
    clock: IReactorTime
    now: Callable[[], float]
    submit_jobs: SubmitJobs
    resolve: Resolve
    ping: Ping
    queue_faults: Callable[[], Sequence[str]]
    listed_files: Callable[[], Collection[str]]
    group_scopes: Callable[[], GroupScopes]
    allocator_fault: Callable[[str], str | None]
    master_state: MasterState
    domain_secret: Callable[[], DomainSecret]
    may_go_on: MayGoOn
    secrets: Mapping[int, Mapping[str, object]] = field(factory=dict, repr=False)
    _points: SafePoints = field(factory=SafePoints)
    _stop: bool = False
    _left: bool = False
    _may_hold: bool = False
    _taking: LockTaking = field(init=False)
    _hooks: HookRun = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._taking = LockTaking(self.locks, self.clock)

    # What luxid may ask meanwhile

    async def stop(self) -> None:
        """Stop at the next safe point; at once when the job waits. Returns when the file says that the opcode shall end.

        @raise OSError: it could not be written; the job stops all the same.
        """
        self._stop = True
        saved: Deferred[None] = succeed(None)
        for index, op in enumerate(self.journal.job.ops):
            if op.status is Status.RUNNING:
                self.journal.change_op(index, status=Status.CANCELING)
                saved = self.journal.save()
        self._taking.stop()
        self._points.stop()
        await saved

    def set_priority(self, priority: int) -> None:
        """Change the opcodes that have not run yet, a waiting one included; a file that is done with is not written again."""
        if self._left or self.journal.job.finalized:
            return
        self.journal.job = with_priority(self.journal.job, priority)
        self._forget(Deferred.fromCoroutine(self.journal.attempt()))
        self._forget(Deferred.fromCoroutine(self._set_lock_priority(priority)))

    async def _set_lock_priority(self, priority: int) -> None:
        await self.locks.set_priority(priority)

    def _forget(self, work: "Deferred[Any]") -> None:
        def failed(failure: Failure) -> None:
            if isinstance(failure.value, GanetiError):
                log.error("the priority of a wait is not changed: {error}", error=error_text(failure.value))
            else:
                log.failure("a change of priority failed", failure)

        work.addErrback(failed)

    # The run

    async def run(self) -> None:
        """Run every opcode; when it returns the job's file holds its end, here and on every candidate that takes it, or has
        the job queued again for whatever process comes next.

        @raise OSError: the file could not be written; the job has not ended then.
        @raise GanetiError: the job has ended, but it may still hold locks, which only its process's end frees.
        """
        try:
            await self._run_ops()
            fault = await self._try_to_let_go()
        except SteppedBack:
            await self.journal.copied()
            return
        except Exception:  # not when this is thrown away: nothing is done any more for a process that is gone
            await self._try_to_let_go()
            raise
        self.journal.job = msgspec.structs.replace(self.journal.job, end_timestamp=timestamp(self.now()))
        await self.journal.insist()
        await self.journal.copied()
        if fault is not None:
            raise fault

    async def _try_to_let_go(self) -> GanetiError | None:
        """What kept something held, if so."""
        try:
            await self._let_go()
        except GanetiError as error:
            return error
        return None

    async def _let_go(self) -> None:
        """Hold nothing any more."""
        await self.locks.release_all()
        await self.config.drop_reservations()

    async def _recover(self, index: int, record: UndoRecord) -> None:
        """The process before this one died while it was changing something."""
        take_back = TakingBack(self.config, self.nodes, self.clock)
        error = await Recovery(self.journal, index, self.locks, take_back, self.clock).run(record)
        await UndoFile(self.journal, index, self.locks).keep([])
        self._finish(index, Status.CANCELED if isinstance(error, JobCanceled) else Status.ERROR, error)
        self._end_rest(index + 1)

    async def _run_ops(self) -> None:
        if (interrupted := self.journal.job.interrupted) is not None:
            await self._recover(*interrupted)
            return
        remaining = [index for index, op in enumerate(self.journal.job.ops) if op.status not in FINAL]
        for index in remaining:
            if index != remaining[0]:
                await self._offer_slot(index, self.journal.job.priority)
            if not await self._run_op(index):
                self._end_rest(index + 1)
                return

    async def _offer_slot(self, index: int, priority: int) -> None:
        """Before an opcode begins: let the job go back to the queue when others wait for its slot.

        A job with secrets ahead goes on: they are in this process's memory only.

        @raise SteppedBack: it has gone back.
        """
        if self._stop or any(at >= index for at in self.secrets) or await self.may_go_on(priority) or self._stop:
            return
        if (error := await self._try_to_let_go()) is not None:
            log.error("job {job_id} keeps its slot: {error}", job_id=self.journal.job.id, error=error_text(error))
            return
        self._left = True
        here = self.journal.job
        self.journal.job = put_back(here)
        try:
            await self.journal.save()
        except OSError as error:
            log.error("job {job_id} cannot go back to the queue: {error}", job_id=here.id, error=error)
            self.journal.job, self._left = here, False
            return
        raise SteppedBack

    async def _run_op(self, index: int) -> bool:
        """Run one opcode; gives whether the next may run."""
        try:
            self._check_stop()
            result = msgspec.to_builtins(await self._execute(index), str_keys=True)
        except SteppedBack:
            raise
        except GanetiError as error:
            if self._points.stopped_at is not None:
                self._cancel_op(index)
            else:
                self._finish(index, Status.CANCELED if isinstance(error, JobCanceled) else Status.ERROR, error)
            return False
        except Exception as error:
            if self._stop and isinstance(error, CancelledError):
                self._cancel_op(index)
                return False
            log.failure("opcode {index} of job {job_id} broke", index=index, job_id=self.journal.job.id)
            text = f"internal error ({error_text(error)}); the log of all jobs (jobs.log) has more"
            self._finish(index, Status.ERROR, OpExecError(text))
            return False
        self.journal.finish_op(index, Status.SUCCESS, result)
        if index < len(self.journal.job.ops) - 1:  # the last one's end is written with the job's
            await self.journal.attempt()
        return True

    def _check_stop(self) -> None:
        if self._stop:
            raise JobCanceled(NOT_BEGUN)

    def _cancel_op(self, index: int) -> None:
        """End an opcode at the safe point that it has reached, with what was taken back or left in its log."""
        if (told := account(self._points)) is not None:
            self.journal.add_log(index, "message", told)
        self._finish(index, Status.CANCELED, JobCanceled(outcome(self._points)))

    def _finish(self, index: int, status: Status, error: GanetiError) -> None:
        self.journal.finish_op(index, status, encode_error(error))

    def _end_rest(self, start: int) -> None:
        """The opcodes after one that failed do not run."""
        status = self.journal.op(start - 1).status
        cause = error_text(decode_error(self.journal.op(start - 1).result))
        for index in range(start, len(self.journal.job.ops)):
            error = (
                JobCanceled(NOT_BEGUN)
                if status is Status.CANCELED
                else OpExecError(f"preceding opcode failed: {cause}")
            )
            self._finish(index, status, error)

    async def _execute(self, index: int) -> Any:
        op = self._opcode(index)
        if self._may_hold:
            await self.locks.release_all()  # those of the opcode before
        unit = await self._with_locks(index, op)
        self._check_stop()
        begun = Deferred.fromCoroutine(self._begin(index))
        try:
            await check_scopes(unit)
            await unit.check()
        except Exception:
            await begun
            raise
        await begun
        await self._hooks.before()
        self._check_stop()
        if op.dry_run:
            await self._show_plan(index, unit)
            unit.info("- INFO: dry-run mode requested, not actually executing the operation")
            return unit.dry_run_result()
        self._points.only_looks = False
        result = await unit.carry_out()
        return unit.with_hooks(result, await self._hooks.after(self._points.config_changed))

    async def _show_plan(self, index: int, unit: LogicalUnit[Any]) -> None:
        held = [f"{lock} ({mode.value})" for lock, mode in sorted((await self.locks.held()).items())]
        for line in described(unit.plan(), held):
            self._feedback(index, "message", line)

    async def _begin(self, index: int) -> None:
        """Have it in the file that the opcode runs: one that waits by its file has changed nothing, and can be run anew.

        @raise OpExecError: the file cannot be written.
        """
        self.journal.change_op(index, status=Status.RUNNING, exec_timestamp=timestamp(self.now()))
        try:
            await self.journal.save()
        except OSError as error:
            raise OpExecError(f"the opcode was not begun: cannot write the job's file {reason(error)}") from None

    def _opcode(self, index: int) -> OpCode:
        return decode({**self.journal.op(index).input, **self.secrets.get(index, {})})

    def _unit(self, index: int, op: OpCode) -> LogicalUnit[Any]:
        kind = self.units.get(type(op))
        if kind is None:
            raise OpExecError(f"{self.journal.op(index).input['OP_ID']} is not available in this version")
        points = self._points = SafePoints(only_looks=True)
        if self._stop:
            points.stop()
        config, nodes = StoppableConfig(self.config, points), StoppableNodes(self.nodes, points)
        context = UnitContext(
            job_id=self.journal.job.id,
            config=config,
            locks=self.locks,
            nodes=nodes,
            clock=self.clock,
            now=self.now,
            feedback=lambda log_kind, payload: self._feedback(index, log_kind, payload),
            steps=Steps(
                tell=lambda payload: self._feedback(index, STEP, payload),
                warn=lambda text: self._feedback(index, "message", f"- WARNING: {text}"),
                take_back=Insisting(TakingBack(config, nodes, self.clock), self.clock, RETURN_LIMIT),
                keep=UndoFile(self.journal, index, self.locks).keep,
                safe_points=points,
            ),
            submit_jobs=lambda jobs: self._submit_jobs(op, jobs),
            resolve=self.resolve,
            ping=self.ping,
            safe_points=points,
            queue_faults=self.queue_faults,
            listed_files=self.listed_files,
            group_scopes=self.group_scopes,
            allocator_fault=self.allocator_fault,
            master_state=self.master_state,
            domain_secret=self.domain_secret,
            hooks_before_leaving=self._hooks_on,
        )
        unit = kind(op, context)
        self._hooks = HookRun(unit, self.config, self.nodes)
        return unit

    async def _hooks_on(self, nodes: Sequence[Node]) -> None:
        await self._hooks.after_on(nodes)

    def _feedback(self, index: int, kind: str, payload: Any) -> None:
        """A line for the operator; what a unit says before it has its locks it says once, however many attempts there are."""
        op = self.journal.op(index)
        if op.status is not Status.WAITING or all(entry[2:] != (kind, indented(payload)) for entry in op.log):
            self.journal.add_log(index, kind, payload, at_once=kind != STEP)

    async def _submit_jobs(self, op: OpCode, jobs: Sequence[Sequence[OpCode]]) -> list[tuple[bool, Any]]:
        self._points.reach("the submission of jobs")
        answers = await self.submit_jobs([[signed_as(op, each) for each in ops] for ops in jobs])
        self._points.record("the submission of jobs")
        return answers

    async def _with_locks(self, index: int, op: OpCode) -> LogicalUnit[Any]:
        """The opcode's unit, which has all its locks; each attempt that fails makes the opcode more urgent and offers its slot."""
        while True:
            unit = self._unit(index, op)
            await self._be_waiting(index)
            self._may_hold = True
            await check_named(unit)
            try:
                await self._taking.take(unit, lambda: self.journal.op(index))
                return unit
            except AttemptFailed as error:
                log.info("job {job_id}: {error}", job_id=self.journal.job.id, error=error)
            except OpPrereqError:
                await check_named(unit)  # what this tells of may be somebody else's by now
                raise
            await self._let_go()
            self._check_stop()
            waiting = self.journal.op(index)
            self.journal.change_op(index, priority=after_failed_attempt(waiting))
            await self._offer_slot(index, submitted_priority(waiting))
            await self.journal.attempt()

    async def _be_waiting(self, index: int) -> None:
        if self.journal.op(index).status is not Status.WAITING:
            self.journal.change_op(index, status=Status.WAITING, start_timestamp=timestamp(self.now()))
            await self.journal.attempt()
