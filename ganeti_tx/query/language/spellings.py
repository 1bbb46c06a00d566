"""Fields that can be asked for under more names than those under which they are listed."""

from collections.abc import Iterator, Mapping

from attrs import evolve, frozen

from ganeti_tx.query.language.field import Field


@frozen
class SpelledFields(Mapping[str, Field]):
    """Fields by name; a name that begins in another spelling finds the same field, which then answers to that name.

    Clients find cells by the names that they asked for. Only the names proper are listed and counted.
    """

    listed: Mapping[str, Field]
    #: Another beginning of names, and the one that it stands for.
    beginnings: Mapping[str, str]

    def __getitem__(self, name: str) -> Field:
        field = self.listed.get(name)
        return field if field is not None else evolve(self.listed[self._proper(name)], name=name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)

    def _proper(self, name: str) -> str:
        for other, proper in self.beginnings.items():
            if name.startswith(other):
                return proper + name.removeprefix(other)
        return name
