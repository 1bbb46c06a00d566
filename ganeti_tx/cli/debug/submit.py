"""gnt-debug submit-job."""

import json
from collections.abc import Mapping, Sequence

from ganeti_tx.cli.options import DRY_RUN, PRIORITY, SOME_FILES, TREE, VERBOSE, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, followed, prepared
from ganeti_tx.cli.text_files import read_text
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

#: The opcodes of each job, by what it is told as.
Jobs = Sequence[tuple[str, list[OpCode]]]


def submit_job(session: Session, options: Parsed, paths: Sequence[str]) -> int:
    """Submit a job for each file and follow them all; failure when one of them failed."""
    _progress(session, options, "Loading...")
    jobs = _jobs(session, options, paths)
    _progress(session, options, "Submitting...")
    started = session.now()
    job_ids = _submitted_one_by_one(session, jobs) if options.each else _submitted_together(session, jobs)
    submitted = session.now()
    session.jobs.update(dict.fromkeys(job_ids.values()))
    if options.verbose:
        session.print(f"Submitted jobs {', '.join(map(str, job_ids.values()))}")
    _progress(session, options, "Executing...")
    failed = [name for name, job_id in job_ids.items() if not followed(session, job_id, name)]
    if options.timing_stats:
        _tell_times(session, jobs, submitted - started, session.now() - submitted)
    return ExitCode.FAILURE if failed or len(job_ids) < len(jobs) else ExitCode.SUCCESS


def _progress(session: Session, options: Parsed, text: str) -> None:
    if options.timing_stats:
        session.print(text)


def _tell_times(session: Session, jobs: Jobs, submitting: float, executing: float) -> None:
    session.print(f"C:op     {sum(len(ops) for _name, ops in jobs):4}")
    session.print(f"C:job    {len(jobs):4}")
    session.print(f"T:submit {submitting:4.4f}")
    session.print(f"T:exec   {executing:4.4f}")
    session.print(f"T:total  {submitting + executing:4.4f}")


def _jobs(session: Session, options: Parsed, paths: Sequence[str]) -> Jobs:
    for flag, count in (("--op-repeat", options.rep_op), ("--job-repeat", options.rep_job)):
        if count < 1:
            raise UsageError(f"invalid {flag} {count}: give 1 or more")
    ready = [
        (path, [prepared(session, options, op) for op in _read_opcodes(session, path)] * int(options.rep_op))
        for path in paths
    ]
    return [
        (f"file {path}/{round_ * len(ready) + place}", ops)
        for round_ in range(int(options.rep_job))
        for place, (path, ops) in enumerate(ready)
    ]


def _read_opcodes(session: Session, path: str) -> list[OpCode]:
    try:
        ops = json.loads(read_text(path, session.stdin))
    except (ValueError, RecursionError) as error:
        raise OpPrereqError(f"{path!r} holds no JSON: {error}", ECode.INVAL) from None
    if not isinstance(ops, list) or not all(isinstance(op, dict) and "OP_ID" in op for op in ops):
        raise OpPrereqError(f"{path!r} holds no list of opcodes, objects with OP_ID", ECode.INVAL)
    return ops


def _submitted_one_by_one(session: Session, jobs: Jobs) -> Mapping[str, int]:
    return {name: session.client.submit_job(ops) for name, ops in jobs}


def _submitted_together(session: Session, jobs: Jobs) -> Mapping[str, int]:
    answers = session.client.submit_many_jobs([ops for _name, ops in jobs])
    for (name, _ops), (accepted, answer) in zip(jobs, answers, strict=True):
        if not accepted:
            session.refusals.append(str(answer))
            session.warn(f"Failed to submit job for {name}: {answer}")
    return {name: answer for (name, _ops), (accepted, answer) in zip(jobs, answers, strict=True) if accepted}


SUBMIT_JOB = Command(
    submit_job,
    SOME_FILES,
    (
        VERBOSE,
        Option(("--op-repeat",), "rep_op", "put the opcodes of a file so many times into its job", "int", "1"),
        Option(("--job-repeat",), "rep_job", "submit each job so many times", "int", "1"),
        switch("--timing-stats", "timing_stats", "show how long it took"),
        switch("--each", "each", "submit each job by itself"),
        DRY_RUN,
        PRIORITY,
    ),
    prints=TREE,
)
