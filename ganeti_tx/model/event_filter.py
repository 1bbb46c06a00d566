"""Which events somebody wants: by kind, and by the objects that they are about."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import field, frozen

#: Among the names of an event: there are more of them than it tells.
ANY = "*"
#: Characters; what is longer names no object.
MAX_NAME = 255


@frozen
class EventFilter:
    """Without kinds every kind is wanted, without objects every object; else one of each must fit.

    Names fit when they are equal, or one is short for the other as "web1" is for "web1.example.com". What that costs does
    not depend on how many objects are wanted.
    """

    kinds: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    _shortened: frozenset[str] = field(init=False)

    def __attrs_post_init__(self) -> None:
        shortened = frozenset(short for name in self.objects for short in short_forms(name))
        object.__setattr__(self, "_shortened", shortened)

    def wants(self, kind: str, names: Iterable[str]) -> bool:
        """Whether an event passes. @param names: what `names_of` gives for it."""
        if self.kinds and kind not in self.kinds:
            return False
        return not self.objects or any(map(self._fits, names))

    def _fits(self, name: str) -> bool:
        if name == ANY or name in self.objects or name in self._shortened:
            return True
        return any(short in self.objects for short in short_forms(name))


def short_forms(name: str) -> Iterator[str]:
    """What a name may be called for short: what stands before each of its dots."""
    end = name.find(".")
    while 0 <= end < MAX_NAME:
        yield name[:end]
        end = name.find(".", end + 1)


def names_of(event: Mapping[str, Any]) -> tuple[str, ...]:
    """Under which names an event, as it is on the wire, is found: job id, names and uuid of objects."""
    names = [str(event["job"])] if "job" in event else []
    names += [str(event[key]) for key in ("name", "old_name", "uuid") if event.get(key)]
    names += [name for _kind, name in event.get("about", ())]
    return (*names, ANY) if event.get("about_more") else tuple(names)


def room_of(names: Iterable[str]) -> int:
    """How many bytes of memory the names of an event take, each with its place in a tuple."""
    return sum(sys.getsizeof(name) + 8 for name in names)
