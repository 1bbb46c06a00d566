"""Keys that no version knows any more: what an older program wrote must not keep the cluster from being read."""

from collections.abc import Iterator
from typing import Any

from msgspec import inspect

#: What can have keys, or hold what has.
HOLDERS = (inspect.StructType, inspect.DictType, inspect.VarTupleType, inspect.ListType)


def drop_unknown(raw: Any, shape: inspect.Type, path: str = "") -> Iterator[str]:
    """Drop them, in place, from dicts and lists as a type declares them; gives the path of each."""
    match shape:
        case inspect.StructType(fields=fields) if isinstance(raw, dict):
            known = {field.encode_name: field.type for field in fields}
            for key in [key for key in raw if key not in known]:
                del raw[key]
                yield below(path, key)
            for key, held in raw.items():
                yield from drop_unknown(held, known[key], below(path, key))
        case inspect.DictType(value_type=value) if isinstance(raw, dict):
            for key, held in raw.items():
                yield from drop_unknown(held, value, below(path, key))
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item) if isinstance(raw, list):
            for index, held in enumerate(raw):
                yield from drop_unknown(held, item, f"{path}[{index}]")
        case inspect.UnionType(types=types):
            holders = [each for each in types if isinstance(each, HOLDERS)]
            if len(holders) == 1:
                yield from drop_unknown(raw, holders[0], path)


def below(path: str, key: str) -> str:
    """The path of what a key holds."""
    return f"{path}.{key}" if path else key
