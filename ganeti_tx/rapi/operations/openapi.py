"""The OpenAPI 3.1 description of operations, drawn from their declarations and from nothing else."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from ganeti_tx.model.own_features import DISK_FORMATS, OWN_FEATURES
from ganeti_tx.rapi.operations.operation import NUMBERS, Argument, Operation
from ganeti_tx.rapi.operations.plain_arrays import with_plain_arrays
from ganeti_tx.rapi.operations.schemas import INTEGER, TEXT, exactly

Object = dict[str, Any]

JSON = "application/json"
VERSION = "2"
#: Parts of paths (Ganeti 3.0 RAPI table, uri_patterns).
NAME = {"type": "string", "pattern": "^[A-Za-z0-9_.-]+$"}
NUMBER = {"type": "string", "pattern": "^[0-9]+$"}

#: What every operation may answer instead of what was asked for, and why.
ERRORS: Mapping[HTTPStatus, str] = {
    HTTPStatus.BAD_REQUEST: "Something in the request cannot be taken; the message says what and what is allowed",
    HTTPStatus.UNAUTHORIZED: "Credentials are missing or wrong",
    HTTPStatus.FORBIDDEN: "The caller may not do this",
    HTTPStatus.NOT_FOUND: "There is no such object",
    HTTPStatus.REQUEST_TIMEOUT: "The request did not come in time",
    HTTPStatus.LENGTH_REQUIRED: "The request does not say how long its body is",
    HTTPStatus.PRECONDITION_FAILED: "The object is not in the state that If-Match names",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too long",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is not application/json",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many failed logins or requests; Retry-After says how long to wait",
    HTTPStatus.INTERNAL_SERVER_ERROR: "The cluster refused or failed; the message says why",
    HTTPStatus.NOT_IMPLEMENTED: "This version cannot do it, or not by that method",
    HTTPStatus.BAD_GATEWAY: "The master daemon is not there",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not now: the job queue is drained or full, or the instance does not run",
    HTTPStatus.GATEWAY_TIMEOUT: "The master daemon did not answer in time",
}
ERROR_BODY = exactly(
    {
        "code": {**INTEGER, "description": "The HTTP status"},
        "message": {**TEXT, "description": "What is wrong, in one line, HTML-escaped"},
        "explain": {**TEXT, "description": "What the status means in general"},
    }
)
SCHEMES: Mapping[str, Object] = {
    "basic": {"type": "http", "scheme": "basic", "description": "A user of the users file or of the directory"},
    "bearer": {"type": "http", "scheme": "bearer", "description": "A token"},
}


def document(operations: Iterable[Operation]) -> Object:
    """The description of these operations."""
    paths: dict[str, Object] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = described(operation)
    whole = {
        "openapi": "3.1.0",
        "info": {
            "title": "Ganeti Remote API",
            "version": VERSION,
            "description": "Everything that changes the cluster submits a job and answers its id.",
            OWN_FEATURES: [DISK_FORMATS],
        },
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR_BODY},
            "responses": {name_of(status): error_response(text) for status, text in ERRORS.items()},
            "securitySchemes": dict(SCHEMES),
        },
    }
    plain: Object = with_plain_arrays(whole)
    return plain


def described(operation: Operation) -> Object:
    """One operation."""
    found: Object = {
        "operationId": operation_id(operation),
        "summary": operation.summary,
        "tags": list(operation.tags),
        "parameters": [*map(part, parts(operation.path)), *map(query_parameter, operation.arguments)],
        "responses": responses(operation),
        "security": security(operation),
        "x-ganeti-access": sorted(operation.access),
    }
    if operation.body is not None:
        found["requestBody"] = {"required": operation.body_required, "content": {JSON: {"schema": operation.body}}}
    if operation.submits:
        found["x-ganeti-opcode"] = list(operation.submits)
    return found


def operation_id(operation: Operation) -> str:
    """A name in most programming languages, such as "instances_name_startup_put": no name begins with a digit."""
    resource = operation.resource if operation.resource[0].isalpha() else f"version_{operation.resource}"
    return f"{resource}_{operation.method.lower()}"


def parts(path: str) -> list[str]:
    """The names in braces."""
    return [each[1:-1] for each in path.split("/") if each.startswith("{")]


def part(name: str) -> Object:
    """A named part of the path."""
    return {"name": name, "in": "path", "required": True, "schema": NUMBER if name in NUMBERS else NAME}


def query_parameter(argument: Argument) -> Object:
    """A query argument."""
    found: Object = {
        "name": argument.name,
        "in": "query",
        "required": argument.required,
        "schema": argument_schema(argument),
    }
    if argument.meaning:
        found["description"] = argument.meaning
    if argument.kind == "list":
        found.update(style="form", explode=argument.repeatable)
    return found


def argument_schema(argument: Argument) -> Object:
    """Flags are numbers, of which every one but 0 says yes."""
    match argument.kind:
        case "flag":
            return {"type": "integer", "default": 0}
        case "int":
            return {"type": "integer"}
        case "list":
            return {"type": "array", "items": text_schema(argument), "minItems": int(argument.required)}
    return text_schema(argument)


def text_schema(argument: Argument) -> Object:
    """A text, or one of those that there are."""
    return {"type": "string", **({"enum": list(argument.choices)} if argument.choices else {})}


def responses(operation: Operation) -> Object:
    """Success and every error that can come."""
    content = {operation.content_type: {"schema": operation.result}}
    found: Object = {"200": {"description": "Success", "content": content}}
    if changes_nothing(operation):
        found["304"] = {"description": "The caller has it already, as If-None-Match says"}
    found.update(
        (str(status.value), {"$ref": f"#/components/responses/{name_of(status)}"}) for status in statuses(operation)
    )
    return found


def statuses(operation: Operation) -> list[HTTPStatus]:
    """The errors that can come."""
    left_out = set()
    if changes_nothing(operation):
        left_out.add(HTTPStatus.PRECONDITION_FAILED)
    if "{" not in operation.path:
        left_out.add(HTTPStatus.NOT_FOUND)
    return [status for status in ERRORS if status not in left_out]


def changes_nothing(operation: Operation) -> bool:
    """Whether it only shows; some that are asked for with GET submit jobs."""
    return operation.method == "GET" and not operation.submits


def security(operation: Operation) -> list[Object]:
    """Any one of the schemes, or nothing where nobody is asked."""
    schemes: list[Object] = [{name: []} for name in SCHEMES]
    return schemes if operation.access else [{}, *schemes]


def name_of(status: HTTPStatus) -> str:
    """Such as "NotFound"."""
    return status.phrase.title().replace(" ", "").replace("-", "")


def error_response(text: str) -> Object:
    """An error with its body."""
    return {"description": text, "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}}}
