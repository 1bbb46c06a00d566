"""What nodes have that belongs to no instance, as `gnt-cluster verify` finds it."""

from typing import Any

from ganeti_tx.burnin.jobs import explained
from ganeti_tx.burnin.wanted import Wanted
from ganeti_tx.cli.progress import follow
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode
from ganeti_tx.errors import GenericError
from ganeti_tx.model.verify_codes import VerifyCode

CODES = (VerifyCode.ENODEORPHANINSTANCE, VerifyCode.ENODEORPHANLV)


def orphans(session: Session, wanted: Wanted) -> set[str]:
    """A line for each. @raise GanetiError: a job that looks for them has failed."""
    op = opcode("OP_CLUSTER_VERIFY", error_codes=True, skip_checks=["nplusone_mem"])
    job = session.client.submit_job([explained(session, wanted, "Looking for what is left", op)])
    [result] = follow(session, job, quiet=True)
    found: set[str] = set()
    for accepted, job_id in result["jobs"]:
        if not accepted:
            raise GenericError(f"cannot look for what is left: {job_id}")
        follow(session, job_id, quiet=True)
        found.update(_told(session.client.query_jobs([job_id], ["oplog"])[0][0]))
    return found


def _told(logs: list[list[Any]]) -> set[str]:
    messages = [entry[-1] for log in logs for entry in log if isinstance(entry[-1], str)]
    lines = [line.strip(" -*") for message in messages for line in message.splitlines()]
    return {line for line in lines if any(f":{code}:" in line for code in CODES)}
