"""Jobs of somebody whose rights are taken away: what waits is cancelled, so that it is not done with rights of before."""

from collections.abc import Sequence

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.model.signature import callers_of

#: Statuses of jobs that have begun nothing.
_WAITING = ("queued", "waiting")
_RUNNING = "running"


def withdraw_jobs(client: Client, caller: str) -> Sequence[str]:
    """Cancel the jobs that wait, of those that a caller asked for; a sentence about each that has not ended.

    @raise GanetiError: nobody tells of jobs now.
    """
    not_ended = ["|", *(["=", "status", status] for status in (*_WAITING, _RUNNING))]
    answer = client.query("job", ["id", "status", "ops"], not_ended)
    jobs = [
        (job_id, status) for (_, job_id), (_, status), (_, ops) in answer["data"] if caller in callers_of(ops or ())
    ]
    return [_runs(job_id) if status == _RUNNING else _canceled(client, job_id) for job_id, status in jobs]


def _canceled(client: Client, job_id: int) -> str:
    """One that cannot be does not keep the others from it."""
    try:
        return str(client.cancel_job(job_id)[1])
    except GanetiError as error:
        return f"Job {job_id} was not canceled: {error}; 'gnt-job cancel {job_id}' tries it again"


def _runs(job_id: int) -> str:
    """It has changed something, and what takes that back may be worse than its end."""
    return f"Job {job_id} runs already; 'gnt-job cancel {job_id}' stops it"
