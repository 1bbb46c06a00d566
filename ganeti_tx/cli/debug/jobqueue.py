"""gnt-debug test-jobqueue: jobs that change nothing, and what the queue must make of them."""

from collections.abc import Callable, Sequence
from typing import Any

from ganeti_tx.cli.options import PRIORITY, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.progress import follow
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import OpCode, opcode, prepared
from ganeti_tx.errors import ExitCode, GanetiError, JobCanceled, OpExecError

_MESSAGES = ("first", "second", "third")
#: Seconds; longer than a job stays in the queue here, so that the cancelled job is still waiting for it.
_BLOCKED = 30.0


def test_jobqueue(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Run the checks one after the other; the first that fails ends the test."""

    def ready(op: OpCode) -> OpCode:
        return prepared(session, options, op)

    for title, check in _CHECKS:
        session.print(f"* {title}")
        check(session, ready)
    session.print("All checks passed")
    return ExitCode.SUCCESS


Ready = Callable[[OpCode], OpCode]


def _check_messages(session: Session, ready: Ready) -> None:
    job_id = session.client.submit_job([ready(opcode("OP_TEST_JQUEUE", log_messages=list(_MESSAGES)))])
    follow(session, job_id, quiet=True)
    ((log,),) = session.client.query_jobs([job_id], ["oplog"])
    _expect(
        "messages", [message for (_serial, _time, _kind, message) in log[0] if message in _MESSAGES], list(_MESSAGES)
    )


def _check_failure(session: Session, ready: Ready) -> None:
    fails = opcode("OP_TEST_JQUEUE", fail=True)
    after = opcode("OP_TEST_JQUEUE")
    job_id = session.client.submit_job([ready(fails), ready(after)])
    _expect_error(session, job_id, OpExecError)
    ((statuses,),) = session.client.query_jobs([job_id], ["opstatus"])
    _expect("opcode statuses", statuses, ["error", "error"])


def _check_many(session: Session, ready: Ready) -> None:
    answers = session.client.submit_many_jobs([[ready(opcode("OP_TEST_JQUEUE"))] for _message in _MESSAGES])
    _expect("submissions", [accepted for accepted, _job_id in answers], [True] * len(_MESSAGES))
    job_ids = [job_id for _accepted, job_id in answers]
    _expect("job ids", job_ids, sorted(set(job_ids)))
    for job_id in job_ids:
        _expect(f"results of job {job_id}", len(follow(session, job_id, quiet=True)), 1)


def _check_cancel(session: Session, ready: Ready) -> None:
    """A job that waits for another one to end can be cancelled; nothing of it runs."""
    first = session.client.submit_job([ready(opcode("OP_TEST_DELAY", duration=_BLOCKED, no_locks=True))])
    waits = opcode("OP_TEST_JQUEUE", depends=[[first, ["success"]]])
    second = session.client.submit_job([ready(waits)])
    cancelled, message = session.client.cancel_job(second)
    _expect(f"answer {message!r} to cancelling job {second}", cancelled, True)
    _expect_error(session, second, JobCanceled)
    session.client.cancel_job(first, True)


def _check_archive(session: Session, ready: Ready) -> None:
    job_id = session.client.submit_job([ready(opcode("OP_TEST_JQUEUE"))])
    follow(session, job_id, quiet=True)
    _expect("archiving", session.client.archive_job(job_id), True)
    _expect("archiving again", session.client.archive_job(job_id), False)


def _expect(what: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise OpExecError(f"Test of the job queue failed: {what}: expected {expected!r}, found {found!r}")


def _expect_error(session: Session, job_id: int, kind: type[GanetiError]) -> None:
    try:
        follow(session, job_id, quiet=True)
    except kind:
        return
    raise OpExecError(f"Test of the job queue failed: job {job_id} succeeded, expected {kind.__name__}")


_CHECKS: tuple[tuple[str, Callable[[Session, Ready], None]], ...] = (
    ("Messages come in order", _check_messages),
    ("An opcode that fails ends its job", _check_failure),
    ("Jobs submitted together all run", _check_many),
    ("A waiting job can be cancelled", _check_cancel),
    ("Ended jobs can be archived, once", _check_archive),
)

TEST_JOBQUEUE = Command(test_jobqueue, (), (PRIORITY,))
