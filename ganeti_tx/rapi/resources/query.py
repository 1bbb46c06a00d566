"""Queries in LUXI's own terms: any resource, any fields, any filter."""

from typing import Any

import msgspec

from ganeti_tx.rapi.http.http_errors import bad_request, not_found
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.bodies import body_as
from ganeti_tx.rapi.operations.operation import Argument, Call, Operation, Schema
from ganeti_tx.rapi.operations.schemas import INTEGER, TEXT, exactly, list_of, tuple_of
from ganeti_tx.rapi.operations.submission import ANYBODY, READ_OR_WRITE

PATH = "/2/query/{resource}"
FIELDS = Argument("fields", "list", meaning="Names with commas between them")

DEFINITIONS: Schema = list_of(exactly({"name": TEXT, "title": TEXT, "kind": TEXT, "doc": TEXT}))
CELL: Schema = tuple_of(INTEGER, {})
RESPONSE: Schema = exactly({"fields": DEFINITIONS, "data": list_of(list_of(CELL))})


#: What LUXI answers queries about (Ganeti 3.0 LUXI table, Query); of others only jobs can tell.
RESOURCES = ("export", "filter", "group", "instance", "job", "lock", "network", "node")


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """The body of a query; other keys are not looked at."""

    fields: list[str] | None = None
    qfilter: list[Any] | None = None
    #: What the filter was called of old.
    filter: list[Any] | None = None


def resource(call: Call) -> str:
    """The name in the path. @raise HttpError: nothing of it can be queried (404)."""
    name = call.parts["resource"]
    if name not in RESOURCES:
        raise not_found(f"there is no resource '{name:.{arguments.SHOWN}}' to query; known are {', '.join(RESOURCES)}")
    return name


async def simple(call: Call) -> dict[str, Any]:
    """All items with the fields of the argument."""
    return await call.luxi.query(resource(call), required_fields(call), None)


async def filtered(call: Call) -> dict[str, Any]:
    """The items that pass the filter of the body."""
    query = body_as(Query, call.body)
    wanted = query.fields if query.fields is not None else required_fields(call)
    arguments.check_repeats(wanted)
    chosen = query.qfilter if query.qfilter is not None else query.filter
    return await call.luxi.query(resource(call), wanted, chosen)


async def definitions(call: Call) -> dict[str, Any]:
    """The definitions of the fields that the argument names, or of all."""
    return await call.luxi.query_fields(resource(call), arguments.listed(call, FIELDS.name) or None)


def required_fields(call: Call) -> list[str]:
    """The fields that the argument names. @raise HttpError: none, or one too often (400)."""
    wanted = arguments.listed(call, FIELDS.name)
    if not wanted:
        raise bad_request("argument 'fields' is missing; give it as ?fields=name,...")
    arguments.check_repeats(wanted)
    return wanted


OPERATIONS = (
    Operation(
        method="GET",
        path=PATH,
        resource="query",
        access=READ_OR_WRITE,
        run=simple,
        summary="Show some fields of all items of a kind",
        result=RESPONSE,
        arguments=(Argument(FIELDS.name, "list", required=True, meaning=FIELDS.meaning),),
        tags=("query",),
    ),
    Operation(
        method="PUT",
        path=PATH,
        resource="query",
        access=READ_OR_WRITE,
        run=filtered,
        summary="Show some fields of the items that pass a filter",
        result=RESPONSE,
        arguments=(FIELDS,),
        body=msgspec.json.schema(Query)["$defs"]["Query"],
        tags=("query",),
    ),
    Operation(
        method="GET",
        path=f"{PATH}/fields",
        resource="query_fields",
        access=ANYBODY,
        run=definitions,
        summary="List the fields that items of a kind have",
        result=exactly({"fields": DEFINITIONS}),
        arguments=(FIELDS,),
        tags=("query",),
    ),
)
