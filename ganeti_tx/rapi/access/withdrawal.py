"""Jobs of somebody whose rights are taken away: what waits is cancelled, so that it is not done with rights of before."""

from collections.abc import Sequence

from ganeti_tx.errors import GanetiError
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.own_methods import OwnMethods
from ganeti_tx.model.signature import Ops, requests_of

#: Statuses of jobs that have begun nothing.
_WAITING = ("queued", "waiting")
_RUNNING = "running"


def withdraw_jobs(client: Client, caller: str, until: int) -> Sequence[str]:
    """Cancel the jobs that wait, of those that a caller asked for; a sentence about each that has not ended. Before they are
    looked for, the master is told to take no more of them.

    @param until: nanoseconds since the epoch; what was asked for later stays.
    @raise GanetiError: nobody tells of jobs now.
    """
    client.call(OwnMethods.withdraw_caller.method.name, [caller, until])
    not_ended = ["|", *(["=", "status", status] for status in (*_WAITING, _RUNNING))]
    answer = client.query("job", ["id", "status", "ops"], not_ended)
    jobs = [
        (job_id, status) for (_, job_id), (_, status), (_, ops) in answer["data"] if asked_for(ops or (), caller, until)
    ]
    return [_runs(job_id) if status == _RUNNING else _canceled(client, job_id) for job_id, status in jobs]


def asked_for(ops: Ops, caller: str, until: int) -> bool:
    """Whether all opcodes of a job were asked for by somebody until then."""
    requests = [requests_of(op.get("reason", ())) for op in ops]
    return bool(requests) and all(any(name == caller and at <= until for name, at in each) for each in requests)


def _canceled(client: Client, job_id: int) -> str:
    """One that cannot be does not keep the others from it."""
    try:
        return str(client.cancel_job(job_id)[1])
    except GanetiError as error:
        return f"Job {job_id} was not canceled: {error}; 'gnt-job cancel {job_id}' tries it again"


def _runs(job_id: int) -> str:
    """It has changed something, and what takes that back may be worse than its end."""
    return f"Job {job_id} runs already; 'gnt-job cancel {job_id}' stops it"
