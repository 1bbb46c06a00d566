"""From a request's body to an opcode; every refusal names the key at fault as the client spelled it."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.opcodes import OpCode, decode
from ganeti_tx.rapi.http.http_errors import bad_request

FAULT = re.compile(r"(?P<text>.*?)(?: - at '\$\.?(?P<path>.*)')?", re.DOTALL)
S = TypeVar("S", bound=msgspec.Struct)
#: Below this a float holds every integer.
EXACT = 2.0**53
UNKNOWN_KEY = re.compile(r"unknown parameter '.*'")


def body_object(body: object) -> dict[str, Any]:
    """The keys of a body; no body has none. @raise HttpError: it is something else (400)."""
    if body is None:
        return {}
    if not isinstance(body, Mapping):
        raise bad_request(f"the body must be a JSON object, not {json_kind(body)}")
    return {name: with_integers(value) for name, value in body.items()}


def body_as(kind: type[S], body: object) -> S:
    """The body as a struct. @raise HttpError: it is none; the key at fault is named (400)."""
    try:
        return msgspec.convert(body_object(body), kind)
    except msgspec.ValidationError as error:
        told = FAULT.fullmatch(str(error).replace("`", "'"))
        text, path = (told["text"], told["path"]) if told is not None else (str(error), "")
        allowed = ", ".join(field.name for field in msgspec.structs.fields(kind))
        raise bad_request(f"{path}: {text}" if path else f"{text}; allowed are {allowed}") from None


def with_integers(value: Any) -> Any:
    """The value with integers for numbers such as 2.0, which JSON does not tell from 2."""
    match value:
        case float() if value.is_integer() and abs(value) < EXACT:
            return int(value)
        case dict():
            return {name: with_integers(each) for name, each in value.items()}
        case list():
            return [with_integers(each) for each in value]
    return value


def json_kind(value: object) -> str:
    """What a decoded JSON value is called."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
    return "an object"


def renamed(body: Mapping[str, Any], renames: Mapping[str, str]) -> dict[str, Any]:
    """The body with the opcode's own names. @raise HttpError: one parameter stands there under both names (400)."""
    for old, new in renames.items():
        if old in body and new in body:
            raise bad_request(f"'{old}' and '{new}' are the same parameter; give one of them")
    return {renames.get(name, name): value for name, value in body.items()}


def checked(kind: type[OpCode], params: Mapping[str, Any], renames: Mapping[str, str], fixed: frozenset[str]) -> OpCode:
    """The opcode of these parameters.

    @param renames: what clients call some of the parameters.
    @param fixed: parameters that no body may hold, so no refusal offers them.
    @raise HttpError: a parameter is unknown, missing or of the wrong type (400).
    """
    try:
        return decode({**params, "OP_ID": kind.op_id()})
    except OpPrereqError as error:
        fault = as_spelled(str(error).removeprefix(kind.op_id()).lstrip(".: "), renames)
        if UNKNOWN_KEY.fullmatch(fault):
            fault += f"; allowed are {', '.join(allowed_keys(kind, renames, fixed))}"
        raise bad_request(fault) from None


def as_spelled(fault: str, renames: Mapping[str, str]) -> str:
    """A refusal with the name that clients use for the parameter at its start, or after "missing parameter"."""
    for old, new in renames.items():
        fault = re.sub(rf"^{new}\b|(?<=^missing parameter '){new}(?=')", old, fault)
    return fault


def allowed_keys(kind: type[OpCode], renames: Mapping[str, str], fixed: frozenset[str] = frozenset()) -> list[str]:
    """The keys that a body may have, as clients spell them."""
    spelled = {new: old for old, new in renames.items()}
    return sorted(
        spelled.get(field.name, field.name) for field in msgspec.structs.fields(kind) if field.name not in fixed
    )


def refuse_fixed(body: Mapping[str, Any], fixed: frozenset[str]) -> None:
    """@raise HttpError: the body holds a parameter that the request's path or arguments decide (400)."""
    for name in sorted(fixed & body.keys()):
        raise bad_request(f"'{name}' cannot be given in the body: the path or an argument of the request decides it")
