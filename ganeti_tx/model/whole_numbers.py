"""Whole numbers that were written with a fraction of nothing: 5000000.0 where a count is meant."""

from functools import cache
from typing import Any

from msgspec import inspect


@cache
def shape_of(kind: type[Any]) -> inspect.Type:
    """What a type consists of."""
    return inspect.type_info(kind)


def whole(raw: Any, shape: inspect.Type) -> Any:
    """Dicts and lists with ints, in place, where only ints are allowed; what does not fit otherwise is left as it is."""
    match shape:
        case inspect.IntType() if isinstance(raw, float) and raw.is_integer():
            return int(raw)
        case inspect.LiteralType(values=values) if isinstance(raw, float) and raw in values:
            return int(raw)
        case inspect.StructType(fields=fields) if isinstance(raw, dict):
            for field in fields:
                if field.encode_name in raw:
                    raw[field.encode_name] = whole(raw[field.encode_name], field.type)
        case inspect.DictType(value_type=value) if isinstance(raw, dict):
            for key, held in raw.items():
                raw[key] = whole(held, value)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item) if isinstance(raw, list):
            raw[:] = [whole(each, item) for each in raw]
        case inspect.TupleType(item_types=items) if isinstance(raw, list) and len(raw) == len(items):
            raw[:] = [whole(each, item) for each, item in zip(raw, items, strict=True)]
        case inspect.UnionType(types=types) if not any(isinstance(each, inspect.FloatType) for each in types):
            for each in types:
                raw = whole(raw, each)
    return raw
