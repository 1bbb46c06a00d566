"""Random filters against a model that is too simple to be wrong."""

import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ParameterError
from ganeti_tx.query import collect
from ganeti_tx.query.language.field import NOT_YET, Field, Kind, Match, by_name, maybe
from ganeti_tx.query.language.filter import Parser, Test
from ganeti_tx.query.language.slices import at_once


class Row:
    """One item."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __repr__(self) -> str:
        return str(self.__dict__)


FIELDS = by_name(
    [
        maybe("text", "Text", Kind.TEXT, "Text"),
        maybe("host", "Host", Kind.TEXT, "A host name", match=Match.HOSTNAME),
        maybe("number", "Number", Kind.NUMBER, "A number"),
        maybe("flag", "Flag", Kind.BOOL, "A flag"),
        maybe("items", "Items", Kind.OTHER, "A list"),
        maybe("moment", "Moment", Kind.OTHER, "A time", match=Match.TIMESTAMP),
    ]
)
TEXTS = st.sampled_from(["", "a", "b", "a.b", "a.b.c", "ab"])
NUMBERS = st.integers(-2, 3)
ROWS = st.builds(
    Row,
    text=st.none() | TEXTS,
    host=st.none() | TEXTS,
    number=st.none() | NUMBERS,
    flag=st.none() | st.booleans(),
    items=st.none() | st.lists(TEXTS | NUMBERS, max_size=3),
    moment=st.none() | st.tuples(NUMBERS, st.integers(0, 999_999)),
)
#: Terms whose types agree, so that none is an error.
TERMS = st.one_of(
    st.tuples(st.just("?"), st.sampled_from(sorted(FIELDS))),
    st.tuples(st.sampled_from(["==", "=", "!="]), st.sampled_from(sorted(FIELDS)), TEXTS | NUMBERS),
    st.tuples(st.sampled_from(["<", "<=", ">", ">="]), st.sampled_from(["text", "host"]), TEXTS),
    st.tuples(st.sampled_from(["<", "<=", ">", ">="]), st.sampled_from(["number", "moment"]), NUMBERS),
    st.tuples(st.just("=~"), st.sampled_from(["text", "host"]), st.sampled_from(["a", "^b", "a.b", r"a\.", "^$"])),
    st.tuples(st.just("=[]"), st.just("items"), TEXTS | NUMBERS),
)
FILTERS = st.recursive(
    TERMS,
    lambda inner: (
        st.tuples(st.just("!"), inner)
        | st.tuples(st.sampled_from("&|"), st.lists(inner, max_size=3)).map(lambda pair: (pair[0], *pair[1]))
    ),
    max_leaves=12,
)


def naive(raw: Any, row: Row) -> bool:
    """Whether the filter holds for a row; what is missing passes each comparison, and != is the opposite of one."""
    sign, *rest = raw
    if sign == "!":
        return not naive(rest[0], row)
    if sign in "&|":
        return (all if sign == "&" else any)(naive(term, row) for term in rest)
    value = getattr(row, rest[0])
    if value is None:
        return sign != "!="
    if sign == "?":
        return bool(value)
    return naive_comparison(sign, rest[0], value, rest[1])


def naive_comparison(sign: str, name: str, value: Any, wanted: Any) -> bool:
    """One comparison with a value that is there."""
    if sign == "=~":
        return re.search(wanted, value) is not None
    if sign == "=[]":
        return any(type(item) is type(wanted) and item == wanted for item in value)
    if name == "moment":
        value = value[0]
    equal = type(value) is type(wanted) and value == wanted
    if name == "host" and isinstance(wanted, str):
        parts = wanted.split(".")
        equal = value.split(".")[: len(parts)] == parts
    if sign in ("==", "="):
        return equal
    if sign == "!=":
        return not equal
    return {"<": value < wanted, "<=": value <= wanted, ">": value > wanted, ">=": value >= wanted}[sign]


def passing(rows: list[Row], test: Test) -> list[Row]:
    """The rows that are not refused."""
    return at_once(collect.passing(rows, test))


class WalkTests(SynchronousTestCase):
    """Rows and filters at random."""

    @settings(max_examples=200, deadline=None)
    @given(raw=FILTERS, rows=st.lists(ROWS, max_size=6))
    def test_as_the_model(self, raw: Any, rows: list[Row]) -> None:
        """Exactly those rows pass that the model lets pass."""
        found = passing(rows, Parser(FIELDS).parse(raw).bind(lambda field: field.reader(None)))
        self.assertEqual(found, [row for row in rows if naive(raw, row)])

    @settings(max_examples=100, deadline=None)
    @given(raw=FILTERS, rows=st.lists(ROWS, max_size=6), hidden=st.sets(st.sampled_from(sorted(FIELDS))))
    def test_early_refusals_stand(self, raw: Any, rows: list[Row], hidden: set[str]) -> None:
        """A row that is refused while some values are not there yet is refused with them, too."""

        def early(field: Field) -> Any:
            return (lambda row: NOT_YET) if field.name in hidden else field.reader(None)

        condition = Parser(FIELDS).parse(raw)
        first = passing(rows, condition.bind(early))
        later = passing(rows, condition.bind(lambda field: field.reader(None)))
        self.assertEqual([row for row in later if row not in first], [])

    @settings(max_examples=100, deadline=None)
    @given(
        sign=st.sampled_from(["<", "<=", ">", ">="]),
        row=ROWS,
        name=st.sampled_from(sorted(FIELDS)),
        value=TEXTS | NUMBERS,
    )
    def test_types_of_orderings(self, sign: str, row: Row, name: str, value: Any) -> None:
        """An ordering is an error exactly when there is a value of another type."""
        test = Parser(FIELDS).parse([sign, name, value]).bind(lambda field: field.reader(None))
        held = getattr(row, name)
        held = held[0] if name == "moment" and held else held
        if held is None or type(held) is type(value):
            self.assertEqual(at_once(test([row])), [naive([sign, name, value], row)])
        else:
            self.assertRaises(ParameterError, at_once, test([row]))
