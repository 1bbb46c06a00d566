"""Looking into dicts and lists of which nobody has checked anything yet."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID, uuid5

Raw = dict[str, Any]


def mapping(holder: Raw, key: str) -> Raw:
    """The dict at a key; an empty one, which belongs to nobody, where there is none."""
    held = holder.get(key)
    return held if isinstance(held, dict) else {}


def objects(holder: Raw, key: str) -> list[Raw]:
    """The objects of a list, or of a container by uuid; what is none is left out."""
    held = holder.get(key)
    every = held.values() if isinstance(held, dict) else held if isinstance(held, list) else ()
    return [each for each in every if isinstance(each, dict)]


def fill(held: Iterable[Raw], defaults: Mapping[str, Any], legacy: Iterable[str] = ()) -> None:
    """Give objects the keys they lack and take those that are no more."""
    for each in held:
        for key in legacy:
            each.pop(key, None)
        for key, value in defaults.items():
            each.setdefault(key, value)


def uuid_of(owner: Raw, what: str) -> str:
    """The uuid of a part of an object that has none yet; always the same for the same part."""
    uuid = str(owner.get("uuid", ""))
    try:
        namespace = UUID(uuid)
    except ValueError:
        namespace = uuid5(UUID(int=0), uuid)
    return str(uuid5(namespace, what))
