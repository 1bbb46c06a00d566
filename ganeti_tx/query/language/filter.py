"""Filters: from the JSON of a request to a test of rows (Ganeti 3.0 query table, filters).

An item without a value passes each comparison with it, and so is refused by the comparison's opposite: C{!} and C{!=} find
items that have another value, and those without one are not among them, as the packaged daemon has it.

A test answers yes, no, or None where a value it needs is not known yet. None stays None under C{!}, and a row on which the
whole filter answers None passes. So a filter can be tried before live data is there, and whatever it refuses then, it would
refuse later as well.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from attrs import Factory, field, frozen

from ganeti_tx.errors import ECode, OpPrereqError, ParameterError, QueryFilterParseError
from ganeti_tx.query.language.field import MISSING, NOT_YET, Field, Getter, Match
from ganeti_tx.query.language.pattern import check_weight, compile_pattern
from ganeti_tx.query.language.slices import Work

Truth = bool | None
#: From rows to yes, no or not known for each, in pieces of work.
Test = Callable[[Sequence[Any]], Work[list[Truth]]]
#: From a value to yes or no.
Predicate = Callable[[Any], bool]
#: From a field to what reads its value, or MISSING, or NOT_YET, off a row.
Readers = Callable[[Field], Getter]

MAX_DEPTH = 50
MAX_TERMS = 20_000
#: Rows that are compared in one piece of work.
STRIDE = 200
#: Steps of patterns in one piece of work, by their bound on a name of usual length.
PIECE_STEPS, NAME_LENGTH = 500_000, 64

ORDERINGS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
EQUAL = frozenset({"==", "="})
#: What is done with values that an operator is not for.
INSTEAD: Mapping[type, str] = {
    list: "of a list =[] ('VALUE' in FIELD) tells whether it holds a value",
    tuple: "of a list =[] ('VALUE' in FIELD) tells whether it holds a value",
    bool: "? (the field alone) tells whether it is true",
}
JSON_NAMES: Mapping[type, str] = {list: "a list", tuple: "a list", dict: "an object"}


class Filter(Protocol):
    """One term, with the terms inside it."""

    def fields(self) -> Iterator[Field]:
        """The fields that it looks at."""

    def bind(self, readers: Readers) -> Test:
        """The test of rows, a term at a time for all of them."""

    def asked(self, field: str) -> list[object] | None:
        """The values asked for when it is nothing but equality with that field, in their order; else None."""


def junction(tests: Sequence[Test], decisive: bool) -> Test:
    """Rows are asked of one test after the other until one answers what is decisive; not known stays so until then."""

    def test(rows: Sequence[Any]) -> Work[list[Truth]]:
        answers: list[Truth] = [not decisive] * len(rows)
        undecided = list(range(len(rows)))
        for inner in tests:
            if not undecided:
                break
            judged = yield from inner([rows[index] for index in undecided])
            for index, answer in zip(undecided, judged, strict=True):
                if answer is not (not decisive):
                    answers[index] = answer
            undecided = [index for index in undecided if answers[index] is not decisive]
        return answers

    return test


@frozen
class AllOf:
    """Every term holds."""

    terms: tuple[Filter, ...]

    def fields(self) -> Iterator[Field]:
        """Those of all terms."""
        return (field for term in self.terms for field in term.fields())

    def bind(self, readers: Readers) -> Test:
        """No as soon as one term says no."""
        return junction([term.bind(readers) for term in self.terms], False)

    def asked(self, field: str) -> list[object] | None:
        """What a single term asks for."""
        return self.terms[0].asked(field) if len(self.terms) == 1 else None


@frozen
class AnyOf:
    """At least one term holds."""

    terms: tuple[Filter, ...]
    #: Made once, however often it is bound.
    _tested: Sequence[Filter] = field(init=False, default=Factory(lambda self: merged(self.terms), takes_self=True))

    def fields(self) -> Iterator[Field]:
        """Those of all terms."""
        return (field for term in self.terms for field in term.fields())

    def bind(self, readers: Readers) -> Test:
        """Yes as soon as one term says yes."""
        return junction([term.bind(readers) for term in self._tested], True)

    def asked(self, field: str) -> list[object] | None:
        """What the terms ask for, when each asks for nothing else."""
        names: list[object] = []
        for term in self.terms:
            inner = term.asked(field)
            if inner is None:
                return None
            names += inner
        return names


@frozen
class Not:
    """The term does not hold."""

    term: Filter

    def fields(self) -> Iterator[Field]:
        """Those of the term."""
        return self.term.fields()

    def bind(self, readers: Readers) -> Test:
        """The opposite; not known stays so."""
        inner = self.term.bind(readers)

        def test(rows: Sequence[Any]) -> Work[list[Truth]]:
            answers = yield from inner(rows)
            return [None if answer is None else not answer for answer in answers]

        return test

    def asked(self, field: str) -> list[object] | None:
        """Nothing by name."""
        return None


@frozen
class Comparison:
    """A field's value satisfies a predicate; `value` is what it is compared with, `stride` the rows of one piece of work."""

    sign: str
    field: Field
    value: object
    predicate: Predicate
    stride: int = STRIDE

    def fields(self) -> Iterator[Field]:
        """The one field."""
        yield self.field

    def bind(self, readers: Readers) -> Test:
        """What is said of each value."""
        read, predicate, stride = readers(self.field), self.predicate, self.stride

        def test(rows: Sequence[Any]) -> Work[list[Truth]]:
            answers: list[Truth] = []
            for start in range(0, len(rows), stride):
                yield
                part = rows[start : start + stride]
                answers += [holds(read(row), predicate) for row in part]
            return answers

        return test

    def asked(self, field: str) -> list[object] | None:
        """The value, when this is equality with the field."""
        return [self.value] if self.sign in EQUAL and self.field.name == field else None


def merged(terms: Sequence[Filter]) -> Sequence[Filter]:
    """The terms of C{|}; when they are nothing but equalities with one field, a single one that takes no longer than each."""
    equalities = [term for term in terms if isinstance(term, Comparison) and term.sign in EQUAL]
    if len(equalities) < max(2, len(terms)) or len({term.field.name for term in equalities}) > 1:
        return terms
    field = equalities[0].field
    if field.match is not Match.EXACT:
        return terms
    values = frozenset(term.value for term in equalities)
    return [Comparison("=", field, None, lambda found: is_plain(found) and found in values)]


def is_plain(found: object) -> bool:
    """Whether a value can be the `same` as any in a filter, so that it can be looked up."""
    return isinstance(found, str | int | float) and not isinstance(found, bool)


def holds(value: Any, predicate: Predicate) -> Truth:
    """Whether a value that is there satisfies a predicate; what is missing satisfies all of them."""
    if value is MISSING:
        return True
    return None if value is NOT_YET else predicate(value)


@frozen
class Parser:
    """Reads filters over the given fields."""

    fields: Mapping[str, Field]

    def parse(self, raw: object) -> Filter:
        """The filter. @raise QueryFilterParseError: malformed or too large. @raise OpPrereqError: an unknown field."""
        if count_terms(raw) > MAX_TERMS:
            raise QueryFilterParseError(f"the filter has more than {MAX_TERMS} terms")
        check_weight(patterns_of(raw))
        return self._term(raw, MAX_DEPTH)

    def _term(self, raw: object, depth: int) -> Filter:
        if depth == 0:
            raise QueryFilterParseError(f"the filter is nested deeper than {MAX_DEPTH} levels")
        if not isinstance(raw, list | tuple) or not raw or not isinstance(raw[0], str):
            raise QueryFilterParseError(f"not a filter: {brief(raw)}; a filter is a list that starts with its operator")
        sign, *operands = raw
        if sign in {"&", "|"}:
            terms = tuple(self._term(operand, depth - 1) for operand in operands)
            return AllOf(terms) if sign == "&" else AnyOf(terms)
        if sign == "!":
            (operand,) = exactly(1, sign, operands)
            return Not(self._term(operand, depth - 1))
        if sign == "?":
            (name,) = exactly(1, sign, operands)
            return Comparison(sign, self._field(name), None, bool)
        return self._comparison(sign, operands)

    def _comparison(self, sign: str, operands: Sequence[object]) -> Filter:
        if sign not in {"==", "=", "!=", "=~", "=[]", *ORDERINGS}:
            known = "& | ! ? == = != < <= > >= =~ =[]"
            raise QueryFilterParseError(f"unknown filter operator {brief(sign)}; known are {known}")
        name, value = exactly(2, sign, operands)
        value = integral(value)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise QueryFilterParseError(
                f"filter value {brief(value)} of {sign} {brief(name)} must be a string or an integer"
            )
        field = self._field(name)
        if sign == "!=":
            return Not(Comparison("==", field, value, equality(field, value)))
        return Comparison(sign, field, value, predicate_of(sign, field, value), stride_of(sign, value))

    def _field(self, name: object) -> Field:
        if not isinstance(name, str):
            raise QueryFilterParseError(f"field name {brief(name)} in a filter must be a string")
        field = self.fields.get(name)
        if field is None:
            raise OpPrereqError(f"unknown field {brief(name)} in filter", ECode.INVAL)
        return field


def count_terms(raw: object) -> int:
    """How many lists there are, without recursion; stops soon after the limit."""
    count, waiting = 0, [raw]
    while waiting and count <= MAX_TERMS:
        term = waiting.pop()
        if isinstance(term, list | tuple):
            count += 1
            waiting.extend(term)
    return count


def patterns_of(raw: object) -> Iterator[str]:
    """The regular expressions of a filter, well formed or not, without recursion."""
    waiting = [raw]
    while waiting:
        term = waiting.pop()
        if isinstance(term, list | tuple):
            if len(term) == 3 and term[0] == "=~" and isinstance(term[2], str):
                yield term[2]
            waiting.extend(term)


def exactly(count: int, sign: str, operands: Sequence[object]) -> Sequence[object]:
    """The operands. @raise QueryFilterParseError: there are more or fewer."""
    if len(operands) != count:
        raise QueryFilterParseError(f"filter operator {sign} takes {count} operands, got {len(operands)}")
    return operands


def integral(value: object) -> object:
    """1.0 as 1: some languages write all numbers so."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def brief(value: object) -> str:
    """A value from outside, short enough for an error."""
    text = repr(value) if isinstance(value, str | int | float | None) else type(value).__name__
    return text if len(text) <= 100 else text[:100] + "..."


def unfit(sign: str, field: Field, value: object, found: object, rule: str) -> ParameterError:
    """The error of an operator that cannot be applied to what a field holds, with what can be."""
    return ParameterError(
        f"filter operator {sign} with {brief(value)}: field {field.name!r} holds {_held(found)}; "
        f"{INSTEAD.get(type(found), rule)}"
    )


def _held(found: object) -> str:
    """A value as clients see it."""
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, str):
        return brief(str(found))
    return brief(found) if isinstance(found, int | float) else JSON_NAMES.get(type(found), "something else")


def predicate_of(sign: str, field: Field, value: str | int) -> Predicate:
    """What a comparison says of a value."""
    if sign in EQUAL:
        return equality(field, value)
    if sign in ORDERINGS:
        return ordering(sign, field, value)
    return search(field, value) if sign == "=~" else membership(field, value)


def stride_of(sign: str, value: str | int) -> int:
    """How many rows make a piece of work; a pattern that may be costly is searched for in one after the other."""
    if sign != "=~" or not isinstance(value, str):
        return STRIDE
    return max(1, min(STRIDE, PIECE_STEPS // compile_pattern(value).steps(NAME_LENGTH)))


def equality(field: Field, value: str | int) -> Predicate:
    """Equal in the field's own way of matching."""
    if field.match is Match.HOSTNAME and isinstance(value, str):
        name, start = value.lower(), value.lower() + "."
        return lambda found: isinstance(found, str) and ((low := found.lower()) == name or low.startswith(start))
    if field.match is Match.TIMESTAMP:
        return lambda found: same(seconds(found), value)
    return lambda found: same(found, value)


def same(found: object, value: str | int) -> bool:
    """Equal, where true is not 1."""
    return found == value and not isinstance(found, bool)


def seconds(found: Any) -> Any:
    """The first of [seconds, microseconds]."""
    return found[0] if isinstance(found, list | tuple) and found else found


def ordering(sign: str, field: Field, value: str | int) -> Predicate:
    """Before or after, among values of one type."""
    compare = ORDERINGS[sign]
    wanted: Any = str if isinstance(value, str) else int | float
    take = seconds if field.match is Match.TIMESTAMP else None

    def predicate(found: Any) -> bool:
        found = take(found) if take else found
        if isinstance(found, bool) or not isinstance(found, wanted):
            raise unfit(sign, field, value, found, "text is compared with text, and numbers with numbers")
        return compare(found, value)

    return predicate


def search(field: Field, value: str | int) -> Predicate:
    """The pattern is found in the text."""
    if not isinstance(value, str):
        raise QueryFilterParseError(f"regular expression {brief(value)} of =~ {field.name!r} must be a string")
    pattern = compile_pattern(value)

    def predicate(found: object) -> bool:
        if not isinstance(found, str):
            raise unfit("=~", field, value, found, "regular expressions are for text")
        return pattern.search(found)

    return predicate


def membership(field: Field, value: str | int) -> Predicate:
    """The list holds the value."""

    def predicate(found: object) -> bool:
        if not isinstance(found, list | tuple):
            raise unfit("=[]", field, value, found, "it is for lists")
        return any(same(item, value) for item in found)

    return predicate
