"""Structs some of whose fields another table declares."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

#: Type and default of each field, by name.
Fields = Mapping[str, tuple[Any, Any]]


class WithFields(msgspec.StructMeta):
    """Makes struct classes with `fields` besides those that they write out; of two by one name the one written out counts."""

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        fields: Fields = MappingProxyType({}),
        **config: Any,
    ) -> type:
        own = namespace.get("__annotations__", {})
        derived = {field: declared for field, declared in fields.items() if field not in own}
        defaults = {field: default for field, (_kind, default) in derived.items()}
        types = {**own, **{field: kind for field, (kind, _default) in derived.items()}}
        return super().__new__(mcls, name, bases, {**defaults, **namespace, "__annotations__": types}, **config)
