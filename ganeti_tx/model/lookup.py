"""Finding an object by name, unique short name or uuid (design-2.1: clients may use any of them)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, Protocol, TypeVar

from ganeti_tx.errors import ECode, OpPrereqError

#: So many candidates an error lists before it says "and N more".
MAX_LISTED = 10
#: The kinds that Ganeti's operations have not found, where others are not known.
SOUGHT = frozenset({"network", "node group"})
#: How it is told, by kind and name, that there is no such object.
Told = Callable[[str, str], str]


def not_known(kind: str, wanted: str) -> str:
    """As operations say it."""
    return f"{kind.capitalize()} {wanted!r} not {'found' if kind in SOUGHT else 'known'}"


def not_listed(kind: str, wanted: str) -> str:
    """As queries say it."""
    return f"{kind.split()[-1].capitalize()} name {wanted} not found"


class Named(Protocol):
    """What can be looked up."""

    @property
    def name(self) -> str: ...

    @property
    def uuid(self) -> str: ...


N = TypeVar("N", bound=Named)


class NameIndex(Generic[N]):
    """Objects of one kind by uuid, name, and leading parts of the name; made once for a version of the configuration.

    Names are compared without regard to case, as host names are. A whole name goes before a short one, and a uuid
    before both: a full name holds a dot, which no uuid does.
    """

    def __init__(self, kind: str, by_uuid: Mapping[str, N], told: Told = not_known) -> None:
        self._kind = kind
        self._told = told
        self._by_uuid = by_uuid
        self._by_name: dict[str, list[N]] = {}
        self._by_short: dict[str, list[N]] = {}
        for held in by_uuid.values():
            name = held.name.lower()
            self._by_name.setdefault(name, []).append(held)
            for short in short_names(name):
                self._by_short.setdefault(short, []).append(held)

    def find(self, wanted: str) -> N:
        """The one object meant. @raise OpPrereqError: none is (unknown_entity), or several are (wrong_input)."""
        held = self._by_uuid.get(wanted) or self._by_uuid.get(wanted.lower())
        if held is not None:
            return held
        name = wanted.lower()
        return only(self._kind, wanted, self._by_name.get(name) or self._by_short.get(name) or (), self._told)

    def find_all(self, wanted: Iterable[str]) -> list[N]:
        """The objects meant, in the given order. @raise OpPrereqError: as `find`, for the first that fails."""
        return [self.find(name) for name in wanted]


def find(kind: str, by_uuid: Mapping[str, N], wanted: str) -> N:
    """One object, for callers that look up once, which is not worth an index. @raise OpPrereqError: as `NameIndex.find`."""
    held = by_uuid.get(wanted) or by_uuid.get(wanted.lower())
    if held is not None:
        return held
    name = wanted.lower()
    named = [each for each in by_uuid.values() if each.name.lower() == name]
    return only(kind, wanted, named or [each for each in by_uuid.values() if each.name.lower().startswith(f"{name}.")])


def short_names(name: str) -> list[str]:
    """The leading parts of a name: "a.b.c" is also "a.b" and "a"."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def only(kind: str, wanted: str, candidates: Iterable[N], told: Told = not_known) -> N:
    """The single candidate. @raise OpPrereqError: there is none, or more than one."""
    found = list(candidates)
    if len(found) == 1:
        return found[0]
    if not found:
        raise OpPrereqError(told(kind, wanted), ECode.NOENT)
    names = sorted(held.name for held in found)
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    raise OpPrereqError(f"{kind} {wanted!r} is ambiguous: {', '.join(names[:MAX_LISTED])}{more}", ECode.INVAL)
