"""Job filter rules."""

from typing import Any

import msgspec

from ganeti_tx.rapi.http.http_errors import not_found
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.bodies import body_as
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.rapi.operations.schemas import INTEGER, NULL, TEXT, exactly, list_of, references, tuple_of
from ganeti_tx.rapi.operations.submission import ANYBODY, WRITE
from ganeti_tx.rapi.resources import fields

PATH = "/2/filters/{filter_uuid}"
#: The largest priority and rate limit.
MAX_NUMBER = 2**31 - 1


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a client says of a rule; LUXI checks what it means."""

    priority: int = 0
    predicates: list[Any] = []
    action: str | list[Any] = "CONTINUE"
    reason: list[list[Any]] = []


async def listed(call: Call) -> list[Any]:
    """References to all rules, or the rules themselves."""
    if arguments.flag(call, arguments.BULK.name):
        return [as_object(row) for row in await call.luxi.query_filters(None, list(fields.FILTER))]
    uuids = [uuid for (uuid,) in await call.luxi.query_filters(None, ["uuid"])]
    return [{"uuid": uuid, "uri": f"/2/filters/{uuid}"} for uuid in uuids]


async def shown(call: Call) -> dict[str, Any]:
    """One rule. @raise HttpError: there is none (404)."""
    rows = await call.luxi.query_filters([call.parts["filter_uuid"]], list(fields.FILTER))
    if not rows:
        raise not_found(f"there is no filter rule '{call.parts['filter_uuid']}'")
    return as_object(rows[0])


async def added(call: Call) -> str:
    """Add a rule; its uuid."""
    return await put(call, None)


async def replaced(call: Call) -> str:
    """Put a rule in place of another; its uuid."""
    return await put(call, call.parts["filter_uuid"])


async def removed(call: Call) -> None:
    """Remove a rule."""
    await call.luxi.delete_filter(call.parts["filter_uuid"])


async def put(call: Call, uuid: str | None) -> str:
    """Send the rule of a body. @raise HttpError: it is none (400)."""
    rule = body_as(Rule, call.body)
    return await call.luxi.replace_filter(uuid, rule.priority, rule.predicates, rule.action, rule.reason)


def as_object(row: list[Any]) -> dict[str, Any]:
    """A rule's values by name."""
    return dict(zip(fields.FILTER, row, strict=True))


PREDICATE = tuple_of({"enum": ["jobid", "priority", "opcode", "reason"]}, list_of({}))
RATE_LIMIT = tuple_of({"const": "RATE_LIMIT"}, {**INTEGER, "minimum": 1, "maximum": MAX_NUMBER})
BODY = {
    "type": "object",
    "properties": {
        "priority": {**INTEGER, "minimum": 0, "maximum": MAX_NUMBER, "default": 0},
        "predicates": list_of(PREDICATE),
        "action": {"anyOf": [{"enum": ["ACCEPT", "PAUSE", "REJECT", "CONTINUE"]}, RATE_LIMIT], "default": "CONTINUE"},
        "reason": list_of(tuple_of(TEXT, TEXT, INTEGER)),
    },
    "additionalProperties": False,
}

OPERATIONS = (
    Operation(
        method="GET",
        path="/2/filters",
        resource="filters",
        access=ANYBODY,
        run=listed,
        summary="List all job filter rules",
        result={"anyOf": [references("uuid"), list_of(exactly(fields.FILTER))]},
        arguments=(arguments.BULK,),
        tags=("filters",),
    ),
    Operation(
        method="POST",
        path="/2/filters",
        resource="filters",
        access=WRITE,
        run=added,
        summary="Add a job filter rule; gives its uuid",
        result=TEXT,
        body=BODY,
        tags=("filters",),
    ),
    Operation(
        method="GET",
        path=PATH,
        resource="filters_uuid",
        access=ANYBODY,
        run=shown,
        summary="Show one job filter rule",
        result=exactly(fields.FILTER),
        tags=("filters",),
    ),
    Operation(
        method="PUT",
        path=PATH,
        resource="filters_uuid",
        access=WRITE,
        run=replaced,
        summary="Put a job filter rule in place of another; gives its uuid",
        result=TEXT,
        body=BODY,
        tags=("filters",),
    ),
    Operation(
        method="DELETE",
        path=PATH,
        resource="filters_uuid",
        access=WRITE,
        run=removed,
        summary="Remove a job filter rule",
        result=NULL,
        tags=("filters",),
    ),
)
