"""Jobs: listed, shown, awaited, cancelled."""

from typing import Any

import msgspec

from ganeti_tx.errors import JobLost
from ganeti_tx.rapi.http.http_errors import not_found
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.bodies import body_as
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.rapi.operations.schemas import BOOLEAN, INTEGER, NULL, TEXT, exactly, list_of
from ganeti_tx.rapi.operations.submission import ANYBODY, WRITE
from ganeti_tx.rapi.resources import fields

PATH = "/2/jobs/{job_id}"
#: Seconds for which a change of a job is awaited in one request (Ganeti 3.0 RAPI table).
LONGEST_WAIT = 10
#: Digits of a job's number.
LONGEST_NUMBER = 18
#: What LUXI servers answer of old when nothing changed.
NO_CHANGE = "nochange"


class Wait(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a client knows of a job, and what it wants to know."""

    fields: list[str]
    previous_job_info: list[Any] | None = None
    previous_log_serial: int | None = None


def job_id(call: Call) -> int:
    """The number in the path. @raise HttpError: no queue counts that far (404)."""
    digits = call.parts["job_id"]
    if len(digits) > LONGEST_NUMBER:
        raise not_found(f"there is no job {digits:.{arguments.SHOWN}}")
    return int(digits)


async def listed(call: Call) -> list[Any]:
    """References to all jobs, or the jobs themselves."""
    if arguments.flag(call, arguments.BULK.name):
        rows = await call.luxi.query_jobs(None, list(fields.JOB_BULK))
        return [dict(zip(fields.JOB_BULK, row, strict=True)) for row in rows]
    numbers = sorted(int(number) for (number,) in await call.luxi.query_jobs(None, ["id"]))
    return [{"id": number, "uri": f"/2/jobs/{number}"} for number in numbers]


async def shown(call: Call) -> dict[str, Any]:
    """One job; of an unknown one the id, and nulls."""
    rows = await call.luxi.query_jobs([job_id(call)], list(fields.JOB))
    if not rows:
        raise not_found(f"there is no job {job_id(call)}")
    return dict(zip(fields.JOB, rows[0], strict=True))


async def cancel(call: Call) -> list[Any]:
    """Whether it was cancelled, and a message."""
    return await call.luxi.cancel_job(job_id(call))


async def awaited(call: Call) -> dict[str, Any] | None:
    """The fields of a job and its new log entries once they differ, or as they are when nothing changed in time.

    Ganeti's daemons answer so, and clients look into the answer without asking whether there is one. None is what is left of
    masters that say only that nothing changed.

    @raise HttpError: the job is gone (404), the body is wrong (400).
    """
    wait = body_as(Wait, call.body)
    arguments.check_repeats(wait.fields)
    known = wait.previous_job_info, wait.previous_log_serial
    try:
        answer = await call.luxi.wait_for_job_change(job_id(call), wait.fields, *known, LONGEST_WAIT)
    except JobLost as error:
        raise not_found(str(error)) from None
    if answer in (NO_CHANGE, None):
        return None
    values, entries = answer
    return {"job_info": values, "log_entries": entries}


def schema_of_wait() -> dict[str, Any]:
    """The body of a wait."""
    return {**msgspec.json.schema(Wait)["$defs"]["Wait"], "title": "Wait"}


OPERATIONS = (
    Operation(
        method="GET",
        path="/2/jobs",
        resource="jobs",
        access=ANYBODY,
        run=listed,
        summary="List all jobs",
        result={"anyOf": [list_of(exactly({"id": INTEGER, "uri": TEXT})), list_of(exactly(fields.JOB_BULK))]},
        arguments=(arguments.BULK,),
        tags=("jobs",),
    ),
    Operation(
        method="GET",
        path=PATH,
        resource="jobs_id",
        access=ANYBODY,
        run=shown,
        summary="Show one job; an unknown one has nulls in place of everything but its id",
        result=exactly(fields.JOB),
        tags=("jobs",),
    ),
    Operation(
        method="DELETE",
        path=PATH,
        resource="jobs_id",
        access=WRITE,
        run=cancel,
        summary="Cancel a job; tells whether it was, and why",
        result={**list_of({"anyOf": [BOOLEAN, TEXT]}), "minItems": 2, "maxItems": 2},
        tags=("jobs",),
    ),
    Operation(
        method="GET",
        path=f"{PATH}/wait",
        resource="jobs_id_wait",
        access=WRITE,
        run=awaited,
        summary=f"Wait up to {LONGEST_WAIT} seconds for a job to change; null when it did not",
        result={"anyOf": [exactly({"job_info": list_of({}), "log_entries": list_of(list_of({}))}), NULL]},
        body=schema_of_wait(),
        body_required=True,
        tags=("jobs",),
    ),
)
