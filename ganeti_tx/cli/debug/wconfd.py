"""gnt-debug wconfd."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.debug.daemon_requests import DaemonRequests, Request
from ganeti_tx.cli.options import TABLE, Argument, Command
from ganeti_tx.cli.parsing import UsageError
from ganeti_tx.cli.values import is_natural
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.daemon import Daemon

SOCKET = "/var/run/ganeti/socket/ganeti-wconfd"
DAEMON = Daemon("the configuration daemon (ganeti-wconfd, part of ganeti-master)", "ganeti-master")
#: Whose requests are those of no job: its number, and no livelock file.
NOBODY = [0, ""]


def echo(client: Client, text: str) -> list[str]:
    """It gives back what it gets."""
    return [f"Answer: {client.call('Echo', [NOBODY, text])}"]


def clean_up_locks(client: Client) -> list[str]:
    """Locks of processes that have died are free."""
    client.call("LookForDead", [NOBODY])
    return ["Stale locks cleaned up."]


def flush_config(client: Client) -> list[str]:
    """All nodes that can be reached have the configuration."""
    client.call("FlushConfig", [NOBODY])
    return ["Configuration flushed."]


def list_locks(client: Client, job_id: str) -> list[str]:
    """The locks that a job has. @raise UsageError: that is no number of a job."""
    if not is_natural(job_id):
        raise UsageError(f"not a job id: {job_id!r}")
    return [
        f"{lock} {mode}"
        for lock, mode, owners, _waiting in overview(client)
        if int(job_id) in (job for job, _ in owners)
    ]


def list_all_locks(client: Client) -> list[str]:
    """The names of all that are held."""
    return [lock for lock, mode, _owners, _waiting in overview(client) if mode is not None]


def list_all_locks_status(client: Client) -> list[str]:
    """All locks, with who has them and who waits."""
    return [
        f"{lock} {mode or '-'} {jobs(owners)}"
        + "".join(f" (waiting for {wanted}: {jobs(others)})" for wanted, others in waiting)
        for lock, mode, owners, waiting in overview(client)
    ]


def overview(client: Client) -> list[Any]:
    """Of each lock its name, how it is held, by whom, and who waits for it how."""
    found: list[Any] = client.call("ListAllLocks", [NOBODY])
    return found


def jobs(owners: Sequence[Sequence[Any]]) -> str:
    """Owners by their jobs."""
    return ",".join(f"job{job_id}" for job_id, _livelock in owners) or "-"


WCONFD = Command(
    DaemonRequests(
        SOCKET,
        DAEMON,
        {
            "echo": Request(1, echo),
            "cleanuplocks": Request(0, clean_up_locks),
            "flushconfig": Request(0, flush_config),
            "listlocks": Request(1, list_locks),
            "listalllocks": Request(0, list_all_locks),
            "listalllocksstatus": Request(0, list_all_locks_status),
        },
    ).send,
    (Argument("unknown", 1),),
    prints=TABLE,
    manual="\nRequests: echo TEXT; cleanuplocks; flushconfig; listlocks JOB; listalllocks; listalllocksstatus.\n",
)
