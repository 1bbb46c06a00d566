"""Waiting for a job's end."""

from collections.abc import Generator, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.errors import GanetiError, JobCanceled, JobLost, OpExecError, decode_error
from ganeti_tx.rapi.client.actions.jobs import get_job_status, wait_for_job_change
from ganeti_tx.rapi.client.errors import RapiError, StillRunningError
from ganeti_tx.rapi.client.message import Now, Pause, Step
from ganeti_tx.rapi.client.records.job import FINAL, Job

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

    @param limit: seconds; no limit when None.
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
    """The job when nothing will change any more. @raise JobLost, StillRunningError"""
    start = yield Now()
    status: Any = None
    serial: int | None = None
    while status not in FINAL:
        if limit is not None and (yield Now()) - start > limit:
            raise StillRunningError(f"Job {job_id} did not end within {limit:g} seconds; it is {status or 'unknown'}")
        status, serial = yield from _change(job_id, status, serial)
    job: Job = yield from get_job_status(job_id).steps()
    return _existing(job)


def _change(job_id: int | str, status: Any, serial: int | None) -> Generator[Step, Any, tuple[Any, int | None]]:
    """Status and last log serial after the next change, or after some time."""
    known = None if status is None else [status]
    try:
        change = yield from wait_for_job_change(job_id, ["status"], known, serial).steps()
    except RapiError as error:
        if error.status == 404:
            raise JobLost(f"There is no job {job_id}") from None
        if error.status != 403:
            raise
        job = _existing((yield from get_job_status(job_id).steps()))
        if not job.ended:
            yield Pause(PERIOD)
        return job.status, serial
    if change is None:
        return status, serial
    serials = [entry[0] for entry in change.log_entries or () if _is_log_entry(entry)]
    return change.job_info[0], max(serials, default=serial)


def _is_log_entry(entry: Any) -> bool:
    return isinstance(entry, Sequence) and len(entry) > 0 and isinstance(entry[0], int)


def _existing(job: Job) -> Job:
    if job.status is None:
        raise JobLost(f"There is no job {job.id}")
    return job


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
