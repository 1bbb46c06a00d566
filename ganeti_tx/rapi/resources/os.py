"""The operating systems that can be installed, found out by a job."""

from collections.abc import Iterator
from typing import Any

from ganeti_tx.model.opcodes import OpOsDiagnose
from ganeti_tx.rapi.http.http_errors import bad_gateway, gateway_timeout
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.rapi.operations.schemas import TEXT, list_of
from ganeti_tx.rapi.operations.submission import ANYBODY, find_out, with_reasons

#: Seconds of one wait for a change of the job, and how many changes or vain waits there may be.
ONE_WAIT, MOST_WAITS = 5, 12
FINAL = ("success", "error", "canceled")
WANTED = ("status", "opresult")
#: Above the serial number of every log entry, so that none counts as a change.
NO_LOG = 2**31 - 1


async def names(call: Call) -> list[str]:
    """The names, with their variants where they have some.

    @raise HttpError: the job did not succeed (502), or took too long (504).
    """
    job_id = await find_out(call, with_reasons(call, OpOsDiagnose(output_fields=("name", "variants"))))
    status, results = await ended(call, job_id)
    if status != "success":
        raise bad_gateway(f"job {job_id}, which looks for operating systems, ended with status {status}")
    return [spelled for name, variants in results[0] for spelled in with_variants(name, variants)]


async def ended(call: Call, job_id: int) -> Any:
    """The final status of a job and its results. @raise HttpError: it took too long (504)."""
    known: list[Any] | None = None
    for _ in range(MOST_WAITS):
        known, _ = await call.luxi.wait_for_job_change(job_id, WANTED, known, NO_LOG, ONE_WAIT)
        if known[0] in FINAL:
            return known
    raise gateway_timeout(f"job {job_id}, which looks for operating systems, is still {known and known[0]}; ask later")


def with_variants(name: str, variants: list[str] | None) -> Iterator[str]:
    """How clients spell a system: NAME+VARIANT, or NAME alone when there are no variants."""
    return (f"{name}+{variant}" for variant in variants) if variants else iter([name])


OPERATIONS = (
    Operation(
        method="GET",
        path="/2/os",
        resource="os",
        access=ANYBODY,
        run=names,
        summary="List the operating systems that can be installed",
        result=list_of(TEXT),
        submits=("OP_OS_DIAGNOSE",),
        tags=("os",),
    ),
)
