"""The shapes of LUXI arguments: what JSON value is taken for each, and how a wrong one is named.

Plain Python without msgspec: the command line reads these, and must answer in a blink.
"""

from collections.abc import Callable
from typing import NamedTuple

#: Job ids are 63 bit numbers, as far as any queue will count.
MAX_JOB_ID = 2**63 - 1
_SHOWN = 60


class ShapeError(ValueError):
    """A value has not the shape asked for; the text says which one has."""


class Shape(NamedTuple):
    """One kind of argument: its name for error texts, and the reader that returns the value or raises ShapeError."""

    expected: str
    read: Callable[[object], object]


def wrong(expected: str, value: object) -> ShapeError:
    """The error for a value, shown shortened, where something else was expected."""
    shown = repr(value)
    if len(shown) > _SHOWN:
        shown = shown[:_SHOWN] + "..."
    return ShapeError(f"expected {expected}, got {shown}")


def _plain(expected: str, accepts: Callable[[object], bool]) -> Shape:
    """A shape whose values stay as they are."""

    def read(value: object) -> object:
        if accepts(value):
            return value
        raise wrong(expected, value)

    return Shape(expected, read)


def is_integer(value: object) -> bool:
    """Whether a JSON value is an integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return is_integer(value) or isinstance(value, float)


def _read_job_id(value: object) -> int:
    """A job id as int; a decimal string stands for its number (Ganeti 3.0 LUXI table, job_id)."""
    number = -1
    if isinstance(value, str):
        if value.isascii() and value.isdigit() and len(value) <= len(str(MAX_JOB_ID)):
            number = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    if not 0 <= number <= MAX_JOB_ID:
        raise wrong(JOB_ID.expected, value)
    return number


def list_of(element: Shape) -> Shape:
    """A list whose elements all have one shape."""
    expected = f"a list ({element.expected} each)"

    def read(value: object) -> object:
        if not isinstance(value, list):
            raise wrong(expected, value)
        return [_read_element(element, index, inner) for index, inner in enumerate(value)]

    return Shape(expected, read)


def _read_element(element: Shape, index: int, value: object) -> object:
    try:
        return element.read(value)
    except ShapeError as error:
        raise ShapeError(f"element {index}: {error}") from None


def nullable(shape: Shape) -> Shape:
    """The shape, or null."""
    expected = f"{shape.expected} or null"

    def read(value: object) -> object:
        return None if value is None else shape.read(value)

    return Shape(expected, read)


def one_of(*names: str) -> Shape:
    """One of a few strings."""
    return _plain("one of " + ", ".join(names), lambda value: isinstance(value, str) and value in names)


STRING = _plain("a string", lambda value: isinstance(value, str))
BOOL = _plain("true or false", lambda value: isinstance(value, bool))
FALSE = _plain("false (queries take no locks)", lambda value: value is False)
INT = _plain("an integer", is_integer)
NATURAL = _plain("an integer of 0 or more", lambda value: isinstance(value, int) and is_integer(value) and value >= 0)
NUMBER = _plain("a number", _is_number)
OBJECT = _plain("an object", lambda value: isinstance(value, dict))
LIST = _plain("a list", lambda value: isinstance(value, list))
ANYTHING = _plain("anything", lambda value: True)
JOB_ID = Shape("a job id (an integer or a string of digits)", _read_job_id)
STRINGS = list_of(STRING)
OBJECTS = list_of(OBJECT)
