"""What is known of an instance beyond its settings: everything its nodes say, and the way to its console."""

from typing import Any

from ganeti_tx.model.opcodes import OpInstanceQueryData
from ganeti_tx.rapi.http.http_errors import unavailable
from ganeti_tx.rapi.operations.operation import Argument, Call, Operation
from ganeti_tx.rapi.operations.schemas import OBJECT
from ganeti_tx.rapi.operations.submission import ANYBODY, READ_OR_WRITE, Fixed, Submission, from_flag, submits
from ganeti_tx.rapi.resources.instances import INSTANCES
from ganeti_tx.rapi.resources.places import INSTANCE_PATH

STATIC = Argument("static", "flag", meaning="Only what the configuration holds; no node is asked")


def one_name(call: Call) -> list[str]:
    """The list of instances that the path makes."""
    return [call.parts["instance_name"]]


async def console(call: Call) -> Any:
    """How to reach the console. @raise HttpError: there is no such instance (404), or it does not run (503)."""
    told, running = await INSTANCES.row(call, ["console", "oper_state"])
    if not running or told is None:
        raise unavailable(f"instance '{call.parts['instance_name']}' has no console while it is not running")
    return told


OPERATIONS = (
    submits(
        "GET",
        f"{INSTANCE_PATH}/info",
        "instances_name_info",
        Submission(OpInstanceQueryData, (Fixed("instances", one_name), from_flag("static", STATIC)), takes_body=False),
        "Gather everything about an instance by a job",
        access=ANYBODY,
    ),
    Operation(
        method="GET",
        path=f"{INSTANCE_PATH}/console",
        resource="instances_name_console",
        access=READ_OR_WRITE,
        run=console,
        summary="Tell how to reach the console of a running instance",
        result=OBJECT,
        tags=("instances",),
    ),
)
