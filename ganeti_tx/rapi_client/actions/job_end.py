"""Waiting for a job's end."""

from collections.abc import Generator, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.errors import GanetiError, JobCanceled, JobLost, OpExecError, decode_error
from ganeti_tx.rapi_client.actions.jobs import get_job_status, wait_for_job_change
from ganeti_tx.rapi_client.backoff import Backoff
from ganeti_tx.rapi_client.errors import AnswerError, ClientError, RapiError, StillRunningError, shortened
from ganeti_tx.rapi_client.message import Now, Pause, Step
from ganeti_tx.rapi_client.records.job import FINAL, Job

#: Seconds between two looks at a job, for who may not wait for its changes.
PERIOD = 2.0


@frozen
class WaitForJob:
    """The action of `wait_for_job`."""

    job_id: int | str
    limit: float | None

    def steps(self) -> Generator[Step, Any, Job]:
        """Wait for changes until the job has ended, then get it."""
        job = yield from ended(self.job_id, self.limit)
        error = error_of(job)
        if error is not None:
            raise error
        return job


@frozen
class WaitForJobCompletion:
    """The action of `wait_for_job_completion`."""

    job_id: int | str
    limit: float | None

    def steps(self) -> Generator[Step, Any, bool]:
        """Wait for the job's end and say how it was."""
        try:
            job = yield from ended(self.job_id, self.limit)
        except (JobLost, StillRunningError):
            return False
        return job.status == "success"


def wait_for_job(job_id: int | str, *, limit: float | None = None) -> WaitForJob:
    """The job once it has succeeded; its results are in `opresult`.

    It goes on while the server does not answer or is started again, for some minutes.

    @param limit: seconds, looked at every ten; no limit when None.
    @raise GanetiError: the job failed; of the class that it failed with, such as OpPrereqError.
    @raise JobCanceled: it was cancelled.
    @raise JobLost: there is no such job.
    @raise StillRunningError: it did not end in time.
    """
    return WaitForJob(job_id, limit)


def wait_for_job_completion(job_id: int | str, *, period: float = 5, retries: int = -1) -> WaitForJobCompletion:
    """Whether the job succeeds within so many periods in seconds; -1 for however long it takes."""
    return WaitForJobCompletion(job_id, None if retries < 0 else period * retries)


def ended(job_id: int | str, limit: float | None) -> Generator[Step, Any, Job]:
    """The job when nothing will change any more; who does not answer for a while is asked again.

    @raise JobLost, StillRunningError
    """
    start = yield Now()
    status: Any = None
    serial: int | None = None
    backoff = Backoff()
    while True:
        if status not in FINAL and limit is not None and (yield Now()) - start > limit:
            raise StillRunningError(f"Job {job_id} did not end within {limit:g} seconds; it is {status or 'unknown'}")
        try:
            if status in FINAL:
                return (yield from _existing(job_id))
            status, serial = yield from _change(job_id, status, serial)
        except ClientError as error:
            yield Pause(backoff.after(error))
        else:
            backoff = Backoff()


def _change(job_id: int | str, status: Any, serial: int | None) -> Generator[Step, Any, tuple[Any, int | None]]:
    """Status and last log serial after the next change, or after some time."""
    known = None if status is None else [status]
    try:
        change = yield from wait_for_job_change(job_id, ["status"], known, serial).steps()
    except RapiError as error:
        if error.status not in (403, 404):  # we may only look, or it may have been archived
            raise
        job = yield from _existing(job_id)
        if not job.ended:
            yield Pause(PERIOD)
        return job.status, serial
    if change is None:
        return status, serial
    if not change.job_info or not isinstance(change.job_info[0], str):
        raise AnswerError(f"The status of job {job_id} is no text: {shortened(change.job_info)}")
    serials = [entry[0] for entry in change.log_entries or () if _is_log_entry(entry)]
    return change.job_info[0], max(serials, default=serial)


def _is_log_entry(entry: Any) -> bool:
    return isinstance(entry, Sequence) and len(entry) > 0 and isinstance(entry[0], int)


def _existing(job_id: int | str) -> Generator[Step, Any, Job]:
    """A job, archived or not. @raise JobLost: there is none."""
    try:
        job = yield from get_job_status(job_id).steps()
    except RapiError as error:
        if error.status != 404:
            raise
    else:
        if job.status is not None:
            return job
    raise JobLost(f"There is no job {job_id}")


def error_of(job: Job) -> GanetiError | None:
    """What an ended job failed with; None when it succeeded."""
    if job.status == "success":
        return None
    if job.status == "canceled":
        return JobCanceled(f"Job {job.id} was cancelled")
    for status, result in zip(job.opstatus or (), job.opresult or (), strict=False):
        if status == "error":
            return decode_error(result)
    return OpExecError(f"Job {job.id} failed and does not say why")
