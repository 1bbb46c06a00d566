"""Finding objects of a changing configuration by name: the index is made anew only when names change."""

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

import attrs

from ganeti_tx.model.lookup import Named, NameIndex

N = TypeVar("N", bound=Named)


@attrs.frozen
class _Name:
    """What the index keeps of an object."""

    uuid: str
    name: str


class NameLookup(Generic[N]):
    """One kind of object. Give it the container of the present configuration with each question."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._seen: Mapping[str, N] | None = None
        self._names: dict[str, str] = {}
        self._index: NameIndex[_Name] = NameIndex(kind, {})

    def find(self, by_uuid: Mapping[str, N], wanted: str) -> N:
        """The one object meant. @raise OpPrereqError: none is (unknown_entity), or several are (wrong_input)."""
        held = by_uuid.get(wanted)
        if held is not None:
            return held
        if by_uuid is not self._seen:
            self._read(by_uuid)
        return by_uuid[self._index.find(wanted).uuid]

    def some(self, by_uuid: Mapping[str, N], wanted: Sequence[str] | None) -> list[N]:
        """The objects meant, in that order; all, by name, when nothing is said. @raise OpPrereqError: as `find`."""
        if wanted is None:
            return sorted(by_uuid.values(), key=lambda held: held.name)
        return [self.find(by_uuid, each) for each in wanted]

    def _read(self, by_uuid: Mapping[str, N]) -> None:
        names = {uuid: held.name for uuid, held in by_uuid.items()}
        if names != self._names:
            self._names = names
            self._index = NameIndex(self._kind, {uuid: _Name(uuid, name) for uuid, name in names.items()})
        self._seen = by_uuid
