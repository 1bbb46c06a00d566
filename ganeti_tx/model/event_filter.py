"""Which events somebody wants: by kind, and by the objects that they are about."""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

#: Among the names of an event: there are more of them than it tells.
ANY = "*"


@frozen
class EventFilter:
    """Without kinds every kind is wanted, without objects every object; else one of each must fit."""

    kinds: frozenset[str] = frozenset()
    objects: tuple[str, ...] = ()

    def wants(self, kind: str, names: Iterable[str]) -> bool:
        """Whether an event passes. @param names: what `names_of` gives for it."""
        if self.kinds and kind not in self.kinds:
            return False
        return not self.objects or any(fits(wanted, name) for name in names for wanted in self.objects)


def fits(wanted: str, name: str) -> bool:
    """Whether two names may mean the same: equal, or one is short for the other as "web1" is for "web1.example.com"."""
    return name == ANY or wanted == name or name.startswith(f"{wanted}.") or wanted.startswith(f"{name}.")


def names_of(event: Mapping[str, Any]) -> tuple[str, ...]:
    """Under which names an event, as it is on the wire, is found: job id, names and uuid of objects."""
    names = [str(event["job"])] if "job" in event else []
    names += [str(event[key]) for key in ("name", "old_name", "uuid") if event.get(key)]
    names += [name for _kind, name in event.get("about", ())]
    return (*names, ANY) if event.get("about_more") else tuple(names)
