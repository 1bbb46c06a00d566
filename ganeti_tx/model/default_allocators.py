"""The cluster's default instance allocators: one text names the programs to try in order, for each kind of request.

`hail,spread` counts for every request; `hail/relocate:near,hail` has other ones for relocations.
"""

from collections.abc import Mapping

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.opcodes.types import AllocatorMode

#: Between the lists, after the kind of one, and between the names in one; no name of a program can have the first.
LISTS, KIND, NAMES = "/", ":", ","
#: The list of all kinds of requests that have no list of their own.
ALL_KINDS = ""


def lists_of(text: str) -> Mapping[str, tuple[str, ...]]:
    """The names by kind of request. @raise OpPrereqError: wrong_input, a kind that there is none of, or a list twice."""
    found: dict[str, tuple[str, ...]] = {}
    for part in text.split(LISTS) if text else ():
        kind, colon, names = part.rpartition(KIND)
        if colon and kind not in list(AllocatorMode):
            kinds = ", ".join(AllocatorMode)
            raise OpPrereqError(f"unknown kind of request {kind!r} in {text!r}; allowed are {kinds}", ECode.INVAL)
        if kind in found:
            raise OpPrereqError(f"two lists of allocators for {kind or 'all requests'} in {text!r}", ECode.INVAL)
        found[kind] = tuple(name.strip() for name in names.split(NAMES) if name.strip())
    return found


def names_for(text: str, kind: AllocatorMode) -> tuple[str, ...]:
    """The programs to try for a kind of request, in order; none when it has no default."""
    lists = lists_of(text)
    return lists.get(kind, lists.get(ALL_KINDS, ()))


def all_names(text: str) -> list[str]:
    """Every program that is named. @raise OpPrereqError: as `lists_of`."""
    return list(dict.fromkeys(name for names in lists_of(text).values() for name in names))


def options_for(params: Mapping[str, object], text: str, name: str) -> dict[str, object]:
    """The options that a program is given: the cluster's parameters go to its default allocators, as no others need know
    them; one called `NAME:OPTION` goes to the program NAME alone.
    """
    own = {
        key.split(KIND, 1)[1]: value for key, value in params.items() if key.split(KIND, 1)[0] == name and KIND in key
    }
    shared = {key: value for key, value in params.items() if KIND not in key} if name in all_names(text) else {}
    return {**shared, **own}
