"""Jobs."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.rapi_client.actions.listing import names
from ganeti_tx.rapi_client.records.job import Job, JobChange
from ganeti_tx.rapi_client.request import Request, get, json_of, path


def get_jobs() -> Request[list[str]]:
    """The jobs' ids, as texts; archived ones are left out."""
    return names("/2/jobs", "id")


def get_jobs_bulk() -> Request[list[Job]]:
    """All jobs, without logs and results."""
    return get("/2/jobs", list[Job], {"bulk": True})


def get_job_status(job_id: int | str) -> Request[Job]:
    """One job; one that is not there has no status."""
    return get(path("/2/jobs/{}", job_id), Job)


def wait_for_job_change(
    job_id: int | str,
    fields: Sequence[str],
    prev_job_info: Sequence[Any] | None = None,
    prev_log_serial: int | None = None,
) -> Request[JobChange | None]:
    """The fields' values once they differ, or there are new log entries; None when nothing happens for some seconds.

    @raise RapiError: 404, there is no such job.
    """
    body = {"fields": list(fields), "previous_job_info": prev_job_info, "previous_log_serial": prev_log_serial}
    kind: Any = JobChange | None  # a form, for a type checker
    return Request("GET", path("/2/jobs/{}/wait", job_id), json_of(kind), body=body, safe=True)


def cancel_job(job_id: int | str) -> Request[tuple[bool, str]]:
    """Whether it was cancelled, and what is to be said about it."""
    return Request("DELETE", path("/2/jobs/{}", job_id), json_of(tuple[bool, str]))
