"""What an instance is: its settings, its name, its operating system."""

from typing import Any

from ganeti_tx.model.opcodes import (
    OpCode,
    OpInstanceReinstall,
    OpInstanceRename,
    OpInstanceSetParams,
    OpInstanceShutdown,
    OpInstanceStartup,
)
from ganeti_tx.rapi.http.http_errors import bad_request
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.bodies import body_object, checked
from ganeti_tx.rapi.operations.operation import Argument, Call, Operation, Schema
from ganeti_tx.rapi.operations.schemas import BOOLEAN, JOB_ID, OBJECT, TEXT, maybe
from ganeti_tx.rapi.operations.submission import WRITE, Params, Submission, submit, submits, with_reasons
from ganeti_tx.rapi.resources.places import INSTANCE, INSTANCE_PATH

CUSTOM = {"custom_beparams": "beparams", "custom_hvparams": "hvparams"}

#: Arguments that hold what now stands in the body.
LEGACY = (
    Argument("os", meaning="Old; give it in the body"),
    Argument("nostartup", "flag", meaning="Old; give start in the body"),
)
REINSTALL_KEYS: dict[str, Schema] = {"os": maybe(TEXT), "osparams": maybe(OBJECT), "start": BOOLEAN}


def with_commas(params: object) -> object:
    """Hypervisor parameters with commas between USB devices, which clients may send with spaces."""
    if isinstance(params, dict) and isinstance(devices := params.get("usb_devices"), str):
        return {**params, "usb_devices": devices.replace(" ", ",")}
    return params


def usb_devices_apart(call: Call, body: Params) -> Params:
    """The body with commas between USB devices."""
    return {
        name: with_commas(value) if name in ("hvparams", "custom_hvparams") else value for name, value in body.items()
    }


async def reinstall(call: Call) -> int:
    """Submit one job that stops the instance, installs it anew, and starts it unless told not to; its id."""
    wish = reinstall_wish(call)
    start = wish.pop("start", True)
    if not isinstance(start, bool):
        raise bad_request("start: expected true or false")
    name = call.parts["instance_name"]
    kinds: list[tuple[type[OpCode], dict[str, Any]]] = [(OpInstanceShutdown, {}), (OpInstanceReinstall, wish)]
    kinds += [(OpInstanceStartup, {})] if start else []
    ops = [checked(kind, {"instance_name": name, **params}, {"os": "os_type"}, frozenset()) for kind, params in kinds]
    return await submit(call, *(with_reasons(call, op) for op in ops))


def reinstall_wish(call: Call) -> Params:
    """The system, its parameters and whether to start, from the body or from the old arguments.

    @raise HttpError: both are there, or an unknown key (400).
    """
    body = body_object(call.body)
    legacy = [argument.name for argument in LEGACY if argument.name in call.arguments]
    if body and legacy:
        raise bad_request(f"give the body or the old argument '{legacy[0]}', not both")
    if legacy:
        return {"os_type": arguments.text(call, "os"), "start": not arguments.flag(call, "nostartup")}
    for name in body.keys() - REINSTALL_KEYS:
        raise bad_request(f"unknown parameter '{name:.{arguments.SHOWN}}'; allowed are {', '.join(REINSTALL_KEYS)}")
    return {"os_type" if name == "os" else name: value for name, value in body.items()}


OPERATIONS = (
    submits(
        "PUT",
        f"{INSTANCE_PATH}/modify",
        "instances_name_modify",
        Submission(OpInstanceSetParams, (INSTANCE,), renames=CUSTOM, prepare=usb_devices_apart),
        "Change an instance",
    ),
    submits(
        "PUT",
        f"{INSTANCE_PATH}/rename",
        "instances_name_rename",
        Submission(OpInstanceRename, (INSTANCE,)),
        "Give a stopped instance another name",
    ),
    Operation(
        method="POST",
        path=f"{INSTANCE_PATH}/reinstall",
        resource="instances_name_reinstall",
        access=WRITE,
        run=reinstall,
        summary="Install an operating system anew on the disks of an instance",
        result=JOB_ID,
        arguments=(*LEGACY, arguments.REASON),
        body={"type": "object", "properties": REINSTALL_KEYS, "additionalProperties": False},
        submits=("OP_INSTANCE_SHUTDOWN", "OP_INSTANCE_REINSTALL", "OP_INSTANCE_STARTUP"),
        tags=("instances",),
    ),
)
