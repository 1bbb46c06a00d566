"""Answering a query: rows, filter, live data from the nodes that matter, columns."""

import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from attrs import field, frozen

from ganeti_tx.errors import ECode, GenericError, OpPrereqError
from ganeti_tx.model.natural_order import natural
from ganeti_tx.query.encoded import column, encoded_rows
from ganeti_tx.query.language.cell import NORMAL, Cell
from ganeti_tx.query.language.field import NOT_YET, Field, Getter, Need, unknown
from ganeti_tx.query.language.filter import Filter, Parser, Test
from ganeti_tx.query.language.slices import Budget, Slices, Work

#: Fields that one query may ask for.
MAX_FIELDS = 2000
#: `at_a_time` of a resource whose rows are all in memory and whose nodes are asked once.
ALL_AT_ONCE = sys.maxsize
#: Resources that only jobs can tell of.
OF_JOBS = frozenset({"cluster", "extstorage", "os"})

Answer = dict[str, Any]
#: The cells of one item.
Row = tuple[Cell, ...]


class Resource(Protocol):
    """One kind of thing that can be asked about. The context is whatever its fields' getters need besides a row."""

    @property
    def name_field(self) -> str:
        """The field that names a row."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """All its fields by name."""

    @property
    def at_a_time(self) -> int:
        """With how many rows `collect` deals at a time; what it gave for them is let go before the next."""

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[Any], Any]:
        """All rows in natural order, or those named, in that order, with a context that has no live data yet.

        @param wanted: the fields that will be read.
        @param strict: whether an unknown name is an error; else it is left out.
        @raise OpPrereqError: a name is not known (unknown_entity), or means several (wrong_input).
        """

    async def collect(self, rows: Sequence[Any], context: Any, needs: frozenset[Need]) -> Any:
        """The context with the live data that these rows need; a node that fails is no error."""


@frozen
class Queries:
    """The queries over some resources, by name."""

    resources: Mapping[str, Resource]
    slices: Slices = field(factory=Slices)

    async def query(self, what: str, names: Sequence[str], raw_filter: object) -> Answer:
        """The definitions of the fields and the cells of every item that passes the filter.

        An unknown field in `names` is no error, its cells say so.

        @raise OpPrereqError: unknown resource, name, or field in the filter. @raise GenericError: jobs must be asked.
        @raise QueryFilterParseError: malformed filter, or one that takes too long.
        @raise ParameterError: types that cannot be compared.
        """
        fields, parts = self.parts(what, names, raw_filter)
        return {"fields": fields, "data": [row async for part in parts for row in part]}

    def parts(
        self, what: str, names: Sequence[str], raw_filter: object
    ) -> tuple[list[dict[str, str]], AsyncIterator[list[Row]]]:
        """The same answer bit by bit: the definitions of the fields, and the cells of some items at a time."""
        resource = self._resource(what)
        fields = self._fields(resource, names)
        condition = None if raw_filter is None else Parser(resource.fields).parse(raw_filter)
        return [field.definition() for field in fields], self._data(resource, fields, condition)

    async def classic(
        self, what: str, items: Sequence[str], names: Sequence[str], strict: bool = False
    ) -> list[list[object]]:
        """Plain rows, null for whatever is not normal; items by name (all without any), unknown ones are left out.

        @raise OpPrereqError: an unknown field, or if strict an unknown item.
        """
        fields, rows, context = await self._collected(what, items, names, strict)
        data = await self.slices.run(table(fields, rows, context))
        return [[value if status == NORMAL else None for status, value in row] for row in data]

    async def classic_json(self, what: str, items: Sequence[str], names: Sequence[str]) -> msgspec.Raw:
        """The same as JSON, for which less has to be done when all are asked for again."""
        return encoded_rows(*await self._collected(what, items, names))

    async def _collected(
        self, what: str, items: Sequence[str], names: Sequence[str], strict: bool = False
    ) -> tuple[list[Field], Sequence[Any], Any]:
        """All that the rows of a classic query are made of."""
        resource = self._resource(what)
        for name in names:
            if name not in resource.fields:
                raise OpPrereqError(f"unknown {what} field {name[:100]!r}", ECode.INVAL)
        fields = self._fields(resource, names)
        asked = list(dict.fromkeys(items)) or None
        rows, context = await resource.rows(asked, frozenset(names), strict)
        needs = needs_of(fields)
        if needs and rows:
            context = await resource.collect(rows, context, needs)
        return fields, rows, context

    def fields(self, what: str, names: Sequence[str] | None) -> Answer:
        """The definitions of the fields named, or without any of all in natural order."""
        resource = self._resource(what)
        asked = names or sorted(resource.fields, key=natural)
        return {"fields": [field.definition() for field in self._fields(resource, asked)]}

    def _resource(self, what: str) -> Resource:
        resource = self.resources.get(what)
        if resource is not None:
            return resource
        if what in OF_JOBS:
            raise GenericError(f"{what} cannot be queried here; submit a job for it")
        known = ", ".join(sorted(self.resources))
        raise OpPrereqError(f"unknown resource {what[:100]!r}; known are {known}", ECode.INVAL)

    def _fields(self, resource: Resource, names: Sequence[str]) -> list[Field]:
        if len(names) > MAX_FIELDS:
            raise OpPrereqError(f"{len(names)} fields asked for; allowed are {MAX_FIELDS}", ECode.INVAL)
        return [resource.fields.get(name) or unknown(name) for name in names]

    async def _data(
        self, resource: Resource, fields: list[Field], condition: Filter | None
    ) -> AsyncIterator[list[Row]]:
        filtered = {each.name: each for each in condition.fields()}.values() if condition is not None else ()
        wanted = frozenset(field.name for field in (*fields, *filtered))
        asked = condition.asked(resource.name_field) if condition is not None else None
        rows, context = await resource.rows(None if asked is None else list(dict.fromkeys(asked)), wanted, strict=True)
        part = Part(self.slices, resource, fields, condition if asked is None else None, needs_of(filtered))
        if len(rows) <= resource.at_a_time:
            if rows:
                yield await part.cells(rows, context)
            return
        for start in range(0, len(rows), resource.at_a_time):
            yield await part.cells(rows[start : start + resource.at_a_time], context)


@frozen
class Part:
    """What is done with some rows at a time; the filter's budget is one for all of them.

    @ivar needed: what the filter's fields need.
    """

    slices: Slices
    resource: Resource
    fields: list[Field]
    condition: Filter | None
    needed: frozenset[Need]
    budget: Budget = field(factory=Budget)

    async def cells(self, rows: Sequence[Any], context: Any) -> list[Row]:
        """The cells of those rows that pass."""
        if self.condition is None:
            return await self._columns(rows, context)
        rows = await self._passing(rows, self.condition.bind(lambda field: known_now(field, context)))
        if not self.needed:
            return await self._columns(rows, context)
        live = await self.resource.collect(rows, context, needs_of(self.fields) | self.needed) if rows else context
        rows = await self._passing(rows, self.condition.bind(lambda field: field.reader(live)))
        return await self.slices.run(table(self.fields, rows, live))

    async def _passing(self, rows: Sequence[Any], test: Test) -> Sequence[Any]:
        return await self.slices.run(passing(rows, test), self.budget)

    async def _columns(self, rows: Sequence[Any], context: Any) -> list[Row]:
        needs = needs_of(self.fields)
        if needs and rows:
            context = await self.resource.collect(rows, context, needs)
        return await self.slices.run(table(self.fields, rows, context))


def needs_of(fields: Iterable[Field]) -> frozenset[Need]:
    """All that the fields need."""
    return frozenset(need for field in fields for need in field.needs)


def known_now(field: Field, context: Any) -> Getter:
    """What reads a field while live data is not there."""
    return (lambda row: NOT_YET) if field.needs else field.reader(context)


def passing(rows: Sequence[Any], test: Test) -> Work[list[Any]]:
    """The rows that the test does not refuse."""
    answers = yield from test(rows)
    return [row for row, answer in zip(rows, answers, strict=True) if answer is not False]


def table(fields: Sequence[Field], rows: Sequence[Any], context: Any) -> Work[list[Row]]:
    """The cells, row by row; made column by column, which is faster."""
    if not fields:
        return [() for _ in rows]
    distinct: dict[str, list[Cell]] = {}
    for each in fields:
        if each.name not in distinct:
            distinct[each.name] = column(each, rows, context)
            yield
    return list(zip(*(distinct[field.name] for field in fields), strict=True))
