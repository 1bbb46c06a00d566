"""JSON schemas: of bodies, drawn from the opcodes' declarations, and of the answers that many resources share."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.rapi.operations.opcode_schemas import fixed_array, parameters_of, required_of
from ganeti_tx.rapi.operations.operation import Schema

DEFINITIONS = "#/$defs/"

NULL: Schema = {"type": "null"}
BOOLEAN: Schema = {"type": "boolean"}
INTEGER: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
OBJECT: Schema = {"type": "object"}
JOB_ID: Schema = {"type": "integer", "minimum": 1, "description": "The id of the job"}


def list_of(item: Schema) -> Schema:
    """A list of any length."""
    return {"type": "array", "items": item}


def maybe(schema: Schema) -> Schema:
    """What may be null as well."""
    kind = schema.get("type")
    return {**schema, "type": [kind, "null"]} if isinstance(kind, str) else {"anyOf": [schema, NULL]}


def exactly(properties: Mapping[str, Schema]) -> Schema:
    """An object that always has these keys, and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def tuple_of(*items: Schema) -> Schema:
    """A list of just these."""
    return fixed_array([dict(item) for item in items])


def references(name: str) -> Schema:
    """What lists give in place of whole objects."""
    return list_of(exactly({name: TEXT, "uri": TEXT}))


def body_of(kind: type[OpCode], renames: Mapping[str, str], left_out: frozenset[str] = frozenset()) -> Schema:
    """The body of a request that becomes an opcode.

    @param renames: what clients call some of the parameters. The opcode's own names are taken as well; of parameters that
        must be there they are not told.
    @param left_out: parameters that a body may not hold.
    """
    spelled = {new: old for old, new in renames.items()}
    kept = {name: schema for name, schema in parameters_of(kind).items() if name not in left_out}
    required = [name for name in required_of(kind) if name in kept]
    optional = {old: new for old, new in renames.items() if new not in required}
    body: dict[str, Any] = {
        "type": "object",
        "properties": {spelled.get(name, name) if name in required else name: kept[name] for name in kept}
        | {old: kept[new] for old, new in optional.items()},
        "required": [spelled.get(name, name) for name in required],
        "additionalProperties": False,
    }
    either = [{"not": {"required": [old, new]}} for old, new in optional.items()]
    return {**body, "allOf": either} if either else body


def inlined(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema with what it refers to put in its place; it must not contain itself."""
    match schema:
        case {"$ref": str(target)}:
            return inlined(definitions[target.removeprefix(DEFINITIONS)], definitions)
        case dict():
            return {key: inlined(value, definitions) for key, value in schema.items() if key != "title"}
        case list():
            return [inlined(value, definitions) for value in schema]
    return schema
