"""gnt-debug submit-job."""

import json
from collections.abc import Sequence

from ganeti_tx.cli.options import DRY_RUN, PRIORITY, SOME_FILES, TREE, VERBOSE, Command, Option, switch
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, follow_all, prepared
from ganeti_tx.cli.text_files import read_text
from ganeti_tx.errors import ECode, ExitCode, OpPrereqError

Jobs = list[list[OpCode]]


def submit_job(session: Session, options: Parsed, paths: Sequence[str]) -> int:
    """Submit a job for each file and follow them all; failure when one of them failed."""
    jobs = _jobs(session, options, paths)
    started = session.now()
    job_ids = _submitted_one_by_one(session, jobs) if options.each else _submitted_together(session, jobs)
    submitted = session.now()
    session.jobs.update(dict.fromkeys(job_ids))
    if options.verbose:
        session.print(f"Submitted jobs {', '.join(map(str, job_ids))}")
    failed = [job_id for job_id in job_ids if follow_all(session, job_id, "the opcodes of a file") is None]
    if options.timing_stats:
        operations = sum(map(len, jobs))
        session.print(f"Submitting {len(jobs)} jobs with {operations} opcodes took {submitted - started:.3f} seconds")
        session.print(f"Running them took {session.now() - submitted:.3f} seconds")
    return ExitCode.FAILURE if failed or len(job_ids) < len(jobs) else ExitCode.SUCCESS


def _jobs(session: Session, options: Parsed, paths: Sequence[str]) -> Jobs:
    for flag, count in (("--op-repeat", options.rep_op), ("--job-repeat", options.rep_job)):
        if count < 1:
            raise UsageError(f"invalid {flag} {count}: give 1 or more")
    files = [_read_opcodes(session, path) for path in paths]
    ready: Jobs = [[prepared(session, options, op) for op in ops] * int(options.rep_op) for ops in files]
    return ready * int(options.rep_job)


def _read_opcodes(session: Session, path: str) -> list[OpCode]:
    try:
        ops = json.loads(read_text(path, session.stdin))
    except (ValueError, RecursionError) as error:
        raise OpPrereqError(f"{path!r} holds no JSON: {error}", ECode.INVAL) from None
    if not isinstance(ops, list) or not all(isinstance(op, dict) and "OP_ID" in op for op in ops):
        raise OpPrereqError(f"{path!r} holds no list of opcodes, objects with OP_ID", ECode.INVAL)
    return ops


def _submitted_one_by_one(session: Session, jobs: Jobs) -> list[int]:
    return [session.client.submit_job(job) for job in jobs]


def _submitted_together(session: Session, jobs: Jobs) -> list[int]:
    answers = session.client.submit_many_jobs(jobs)
    for accepted, answer in answers:
        if not accepted:
            session.refusals.append(str(answer))
            session.warn(f"Failed to submit a job: {answer}")
    return [answer for accepted, answer in answers if accepted]


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
