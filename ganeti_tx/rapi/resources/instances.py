"""Instances: listed, shown, made, removed."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.model.opcodes import OpInstanceCreate, OpInstanceMultiAlloc, OpInstanceRemove
from ganeti_tx.rapi.http.http_errors import HttpError, bad_request
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.bodies import body_object, checked, json_kind, renamed
from ganeti_tx.rapi.operations.operation import Call, Schema
from ganeti_tx.rapi.operations.rows import Item, Noun
from ganeti_tx.rapi.operations.schemas import body_of, list_of
from ganeti_tx.rapi.operations.submission import DRY_RUN, Params, Submission, constant, submits
from ganeti_tx.rapi.resources import fields
from ganeti_tx.rapi.resources.instance_settings import usb_devices_apart
from ganeti_tx.rapi.resources.places import INSTANCE, INSTANCE_PATH

#: What clients call parameters of a new instance.
CREATE_RENAMES = {"os": "os_type", "name": "instance_name"}
#: The key of the request's version, and the one version that there is.
VERSION_KEY, VERSION = "__version__", 1


async def ask(call: Call, names: Sequence[str], wanted: Sequence[str]) -> list[Any]:
    """As `rows.Ask` says."""
    return await call.luxi.query_instances(names, wanted)


def with_memory(item: Item) -> Item:
    """The instance with beparams.memory, as clients know it from the time before there was a minimum."""
    beparams = item["beparams"]
    if not isinstance(beparams, dict) or "maxmem" not in beparams:
        return item
    return {**item, "beparams": {**beparams, "memory": beparams["maxmem"]}}


INSTANCES = Noun("instances", "instance", ask, fields.INSTANCE, key="id", part="instance_name", finish=with_memory)


def versioned(call: Call, body: Params) -> Params:
    """The body without its version. @raise HttpError: it is of another version than 1 (400)."""
    version = body.get(VERSION_KEY, 0)
    if isinstance(version, bool) or version != VERSION:
        shown = f"{version!r:.{arguments.SHOWN}}"
        raise bad_request(f"{VERSION_KEY}: requests for new instances must be of version {VERSION}, got {shown}")
    return usb_devices_apart(call, {name: value for name, value in body.items() if name != VERSION_KEY})


def with_instances(call: Call, body: Params) -> Params:
    """The body with each instance as an opcode. @raise HttpError: one is none; its place is named (400)."""
    instances = body.get("instances", [])
    if not isinstance(instances, list):
        raise bad_request(f"instances: expected a list, got {json_kind(instances)}")
    return {**body, "instances": [inner_opcode(call, index, each) for index, each in enumerate(instances)]}


def inner_opcode(call: Call, index: int, body: object) -> Params:
    """One new instance in the form of its opcode."""
    try:
        params = renamed(usb_devices_apart(call, body_object(body)), CREATE_RENAMES)
        params = {name: value for name, value in params.items() if name not in ("OP_ID", VERSION_KEY)}
        checked(OpInstanceCreate, params, CREATE_RENAMES, frozenset())
    except HttpError as error:
        raise bad_request(f"instances[{index}]: {error}") from None
    return {"reason": [], **params, "OP_ID": OpInstanceCreate.op_id()}


CREATE = Submission(OpInstanceCreate, (DRY_RUN,), renames=CREATE_RENAMES, prepare=versioned)
MULTI_ALLOC = Submission(OpInstanceMultiAlloc, (DRY_RUN,), prepare=with_instances)


def create_schema() -> Schema:
    """The opcode's schema and the version."""
    plain = CREATE.body_schema()
    return {
        **plain,
        "properties": {VERSION_KEY: {"const": VERSION}, **plain["properties"]},
        "required": [VERSION_KEY, *plain["required"]],
    }


def multi_alloc_schema() -> Schema:
    """The opcode's schema with the one of new instances inside."""
    plain = MULTI_ALLOC.body_schema()
    inner = body_of(OpInstanceCreate, CREATE_RENAMES)
    return {**plain, "properties": {**plain["properties"], "instances": list_of(inner)}}


OPERATIONS = (
    INSTANCES.listing(arguments.LOCK),
    INSTANCES.showing(arguments.LOCK),
    submits("POST", "/2/instances", "instances", CREATE, "Make an instance", body=create_schema(), body_required=True),
    submits(
        "POST",
        "/2/instances-multi-alloc",
        "instances_multi_alloc",
        MULTI_ALLOC,
        "Place many new instances at once, each then made by a job of its own",
        body=multi_alloc_schema(),
    ),
    submits(
        "DELETE",
        INSTANCE_PATH,
        "instances_name",
        Submission(OpInstanceRemove, (INSTANCE, constant("ignore_failures", False), DRY_RUN)),
        "Remove an instance with its disks",
    ),
)
