"""JSON schemas of opcodes' parameters, drawn from their declarations."""

from collections.abc import Mapping
from typing import Any

from msgspec import NODEFAULT, UNSET, inspect

from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.model.opcodes.addresses import AddressText, Ip4Address, Ip4Network, Ip6Address

#: LUXI takes integers of 64 bits.
LEAST, MOST = -(2**63), 2**63 - 1
_OCTET = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
#: What more is known of texts that are addresses.
ADDRESSES: Mapping[type, Mapping[str, str]] = {
    Ip4Address: {"format": "ipv4"},
    Ip6Address: {"format": "ipv6"},
    Ip4Network: {"pattern": rf"^({_OCTET}\.){{3}}{_OCTET}/(3[0-2]|[12]?[0-9])$"},
}


def parameters_of(kind: type[OpCode]) -> dict[str, dict[str, Any]]:
    """The schema of each parameter."""
    declared = inspect.type_info(kind)
    assert isinstance(declared, inspect.StructType)
    return {field.name: schema_of(field.type) | default_of(field) for field in declared.fields}


def required_of(kind: type[OpCode]) -> list[str]:
    """The parameters that have no default."""
    declared = inspect.type_info(kind)
    assert isinstance(declared, inspect.StructType)
    return [field.name for field in declared.fields if field.required]


def default_of(field: inspect.Field) -> dict[str, Any]:
    """The default, unless it is empty or null, which goes without saying."""
    default = field.default
    return {} if default in (NODEFAULT, None, (), {}) else {"default": default}


def schema_of(what: inspect.Type) -> dict[str, Any]:
    """The schema of a type."""
    match what:
        case inspect.StrType():
            return bounded("string", minLength=what.min_length, maxLength=what.max_length, pattern=what.pattern)
        case inspect.IntType():
            return limited(what)
        case inspect.FloatType():
            return {"type": "number"}
        case inspect.BoolType():
            return {"type": "boolean"}
        case inspect.NoneType():
            return {"type": "null"}
        case inspect.LiteralType():
            return {"enum": list(what.values)}
        case inspect.EnumType():
            return {"enum": [member.value for member in what.cls]}
        case inspect.UnionType():
            return {"anyOf": [schema_of(each) for each in what.types]}
        case inspect.CustomType() if issubclass(what.cls, AddressText):
            return {"type": "string", "description": what.cls.kind, **ADDRESSES.get(what.cls, {})}
        case inspect.CustomType() | inspect.AnyType():
            return {}
    return schema_of_container(what)


def schema_of_container(what: inspect.Type) -> dict[str, Any]:
    """The schema of a type that holds others."""
    match what:
        case inspect.DictType():
            names = schema_of(what.key_type)
            names.pop("type", None)
            values = {"type": "object", "additionalProperties": schema_of(what.value_type)}
            return values | ({"propertyNames": names} if names else {})
        case inspect.VarTupleType():
            return {"type": "array", "items": schema_of(what.item_type)}
        case inspect.FrozenSetType():
            return {"type": "array", "items": schema_of(what.item_type)}
        case inspect.TupleType():
            return fixed_array([schema_of(each) for each in what.item_types])
        case inspect.StructType() if what.array_like:
            return fixed_array([schema_of(field.type) for field in what.fields])
        case inspect.StructType():
            return {"type": "object", "properties": {field.name: schema_of(field.type) for field in what.fields}}
    raise NotImplementedError(f"no opcode parameter is a {what}")


def fixed_array(items: list[dict[str, Any]]) -> dict[str, Any]:
    """A list of so many items."""
    return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items), "maxItems": len(items)}


def limited(what: inspect.IntType) -> dict[str, Any]:
    """An integer within its limits, or those of LUXI."""
    least = {"minimum": LEAST} if what.ge is None and what.gt is None else {}
    most = {"maximum": MOST} if what.le is None and what.lt is None else {}
    own = {"minimum": what.ge, "exclusiveMinimum": what.gt, "maximum": what.le, "exclusiveMaximum": what.lt}
    return bounded("integer", **own) | least | most


def bounded(kind: str, **limits: object) -> dict[str, Any]:
    """A plain type with the limits that it has."""
    return {"type": kind, **{name: limit for name, limit in limits.items() if limit not in (None, UNSET)}}
