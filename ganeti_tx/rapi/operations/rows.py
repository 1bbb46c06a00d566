"""Operations that answer from a classic LUXI query: rows as objects, lists of references, single items."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from ganeti_tx.rapi.http.http_errors import not_found
from ganeti_tx.rapi.operations import arguments
from ganeti_tx.rapi.operations.operation import Argument, Call, Operation, Schema
from ganeti_tx.rapi.operations.schemas import exactly, list_of, references
from ganeti_tx.rapi.operations.submission import ANYBODY

Item = dict[str, Any]
#: Asks LUXI for rows of some items (all without names) with these fields.
Ask = Callable[[Call, Sequence[str], Sequence[str]], Awaitable[list[Any]]]


def unchanged(item: Item) -> Item:
    """No finish."""
    return item


@frozen
class Noun:
    """A kind of object that is listed and shown."""

    #: Its name in paths and in the names of resources, such as "instances".
    name: str
    #: One of them, for people.
    one: str
    ask: Ask
    #: The fields of whole objects with their schemas.
    fields: Mapping[str, Schema]
    #: The key of the name in references.
    key: str = "name"
    #: The part of the path that names one.
    part: str = ""
    #: Keys that an answer has besides its fields.
    aliases: Mapping[str, str] = {}
    finish: Callable[[Item], Item] = unchanged

    async def listed(self, call: Call) -> list[Item]:
        """References to all, or all of them whole when the bulk argument asks for that."""
        arguments.flag(call, arguments.LOCK.name)
        if arguments.flag(call, arguments.BULK.name):
            return [self._object(row) for row in await self.ask(call, [], list(self.fields))]
        names = sorted(name for (name,) in await self.ask(call, [], ["name"]))
        return [{self.key: name, "uri": f"/2/{self.name}/{name}"} for name in names]

    async def shown(self, call: Call) -> Item:
        """The one that the path names. @raise HttpError: there is none (404)."""
        arguments.flag(call, arguments.LOCK.name)
        return self._object(await self.row(call, list(self.fields)))

    async def row(self, call: Call, fields: Sequence[str]) -> list[Any]:
        """Some fields of the one that the path names. @raise HttpError: there is none (404)."""
        name = call.parts[self.part]
        rows = await self.ask(call, [name], fields)
        if not rows:
            raise not_found(f"there is no {self.one} '{name}'")
        row: list[Any] = rows[0]
        return row

    def _object(self, row: Sequence[Any]) -> Item:
        item = self.finish(dict(zip(self.fields, row, strict=True)))
        return item | {alias: item[name] for alias, name in self.aliases.items()}

    def schema(self) -> Schema:
        """A whole object."""
        return exactly({**self.fields, **{alias: self.fields[name] for alias, name in self.aliases.items()}})

    def listing(self, *more: Argument) -> Operation:
        """GET of all."""
        return Operation(
            method="GET",
            path=f"/2/{self.name}",
            resource=self.name,
            access=ANYBODY,
            run=self.listed,
            summary=f"List all {self.name}",
            result={"anyOf": [references(self.key), list_of(self.schema())]},
            arguments=(arguments.BULK, *more),
            tags=(self.name,),
        )

    def showing(self, *more: Argument) -> Operation:
        """GET of one."""
        return Operation(
            method="GET",
            path=f"/2/{self.name}/{{{self.part}}}",
            resource=f"{self.name}_name",
            access=ANYBODY,
            run=self.shown,
            summary=f"Show one {self.one}",
            result=self.schema(),
            arguments=more,
            tags=(self.name,),
        )
