"""Schemas of arrays as common generators of clients read them, which hold on to what OpenAPI 3.0 had: no array is without
`items`, and no `items` is true or false.
"""

from typing import Any


def with_plain_arrays(schema: Any) -> Any:
    """A document or a part of one, in which every array says what its items are; what is valid stays the same."""
    match schema:
        case dict():
            plain = {key: with_plain_arrays(value) for key, value in schema.items()}
            return without_repetition({**plain, "items": items_of(plain)}) if lacks_items(plain) else plain
        case list() | tuple():
            return [with_plain_arrays(value) for value in schema]
    return schema


def without_repetition(schema: dict[str, Any]) -> dict[str, Any]:
    """Without a list of the first items when they are as many as there are, and all as the items are said to be."""
    first = schema.get("prefixItems", [])
    if first and schema.get("maxItems") == len(first) and all(item == schema["items"] for item in first):
        return {key: value for key, value in schema.items() if key != "prefixItems"}
    return schema


def lacks_items(schema: dict[str, Any]) -> bool:
    """Whether it is the schema of an array without `items` that are a schema."""
    kind = schema.get("type")
    return (kind == "array" or (isinstance(kind, list) and "array" in kind)) and not isinstance(
        schema.get("items"), dict
    )


def items_of(schema: dict[str, Any]) -> dict[str, Any]:
    """What any item may be: one of those that there are when their number is fixed, else anything."""
    first = schema.get("prefixItems", [])
    if schema.get("maxItems") != len(first) or not first:
        return {}
    kinds = [item for index, item in enumerate(first) if item not in first[:index]]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
