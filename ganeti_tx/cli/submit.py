"""Opcodes from options to the queue, and their jobs to results."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.failures import describe, warn_of
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.progress import follow
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode, GanetiError, JobSubmittedException

OpCode = dict[str, Any]


def opcode(op_id: str, **params: Any) -> OpCode:
    """An opcode in wire form. None means not given: the server fills in its default."""
    return {"OP_ID": op_id, **{name: value for name, value in params.items() if value is not None}}


def unless(default: Any, value: Any) -> Any:
    """The value, or None (not given) when it is the server's default anyway."""
    return None if value == default else value


def prepared(session: Session, options: Parsed, op: OpCode) -> OpCode:
    """The opcode with what the common options ask for, and why it was submitted."""
    given = vars(options)
    common = {
        "dry_run": given.get("dry_run") or None,
        "priority": given.get("priority"),
        "debug_level": given.get("debug") or None,
    }
    return {
        **op,
        **{name: value for name, value in common.items() if value is not None},
        "reason": reason_trail(session, options),
    }


def reason_trail(session: Session, options: Parsed) -> list[list[Any]]:
    """The operator's words, if any, and the command (Ganeti 3.0 LUXI table, reason trail)."""
    nanoseconds = int(session.now() * 1e9)
    typed = [["gnt:user", options.reason, nanoseconds]] if options.reason else []
    return [*typed, [f"gnt:client:{session.program}", session.command, nanoseconds]]


def run_opcode(session: Session, options: Parsed, op: OpCode, *, to_drained: bool = False) -> Any:
    """Submit one opcode and follow its job; the opcode's result. @raise JobSubmittedException, GanetiError: as `run_job`."""
    return run_job(session, options, [op], to_drained=to_drained)[0]


def run_job(session: Session, options: Parsed, ops: Sequence[OpCode], *, to_drained: bool = False) -> Sequence[Any]:
    """Submit one job and follow it; the results of its opcodes.

    @param to_drained: whether it is taken also while the queue is drained.
    @raise JobSubmittedException: --submit was given, nobody waits.
    @raise GanetiError: the job failed.
    """
    submit = session.client.submit_job_to_drained_queue if to_drained else session.client.submit_job
    job_id = submit([prepared(session, options, op) for op in ops])
    session.jobs[job_id] = None
    given = vars(options)
    if given.get("print_jobid"):
        session.print(str(job_id))
    if given.get("submit_only"):
        raise JobSubmittedException(job_id)
    return follow(session, job_id)


def run_each(session: Session, options: Parsed, ops: Mapping[str, OpCode], *, announced: bool = True) -> int:
    """Submit a job for each named opcode, follow them all; failure when one of them failed.

    @param announced: whether the ids of all jobs are told first.
    """
    answers = session.client.submit_many_jobs([[prepared(session, options, op)] for op in ops.values()])
    submitted = [(name, answer) for name, (accepted, answer) in zip(ops, answers, strict=True) if accepted]
    refused = [(name, answer) for name, (accepted, answer) in zip(ops, answers, strict=True) if not accepted]
    for name, why in refused:
        session.warn(f"Failed to submit job for {name}: {why}")
    if options.submit_only:
        if session.document is not None:
            session.emit(_each(session, dict(zip(ops, answers, strict=True))))
        for name, job_id in submitted if session.document is None else ():
            session.print(f"{job_id}: {name}")
        return ExitCode.FAILURE if refused else ExitCode.SUCCESS
    if announced and submitted:
        session.print(f"Submitted jobs {', '.join(str(job_id) for _name, job_id in submitted)}")
    failed = [name for name, job_id in submitted if not followed(session, job_id, name)]
    if session.document is not None:
        session.emit(_each(session, dict(zip(ops, answers, strict=True))))
    return ExitCode.FAILURE if refused or failed else ExitCode.SUCCESS


def _each(session: Session, answers: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """What became of each submission, for programs: why it was refused, or the error that its job has ended with."""
    return [
        {"name": name, "job": answer, "error": session.jobs.get(answer)}
        if accepted
        else {"name": name, "job": None, "error": answer}
        for name, (accepted, answer) in answers.items()
    ]


def followed(session: Session, job_id: int, name: str) -> bool:
    """Follow one job of several; whether it succeeded. Its error is shown, the others go on."""
    session.print(f"Waiting for job {job_id} for {name} ...")
    return follow_all(session, job_id, name) is not None


def follow_all(session: Session, job_id: int, name: str) -> Sequence[Any] | None:
    """The results of one job of several; None after showing its error."""
    return follow_one(session, job_id, f"Job {job_id} for {name} has failed")


def follow_one(session: Session, job_id: int, failed: str) -> Sequence[Any] | None:
    """The same with other words for that it has failed."""
    try:
        return follow(session, job_id)
    except GanetiError as error:
        session.jobs[job_id] = describe(error)[1]
        warn_of(session, failed, error)
        return None
