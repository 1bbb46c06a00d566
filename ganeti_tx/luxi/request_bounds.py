"""What a request may hold apart from its length: how many values, how deeply nested, how large numbers, which text.

A short message can become very large objects, and whoever walks through them later must not be taken by surprise.
"""

from collections.abc import Iterable
from typing import Any

from ganeti_tx.luxi.framing import Message

#: Lists, objects and their elements; a thousand jobs of ten opcodes each have fewer.
MAX_VALUES = 250_000
#: The room that one of them takes at most once it is read, in bytes.
VALUE_SIZE = 128
#: The deepest request of any client is a query filter, which is nested 50 deep at most.
MAX_DEPTH = 100
TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
#: Integers from -2**63 to 2**64 - 1; every other program stores no larger ones.
SMALLEST, LARGEST = -(2**63), 2**64 - 1


class OutOfBounds(ValueError):
    """The text says what is too large, and what is allowed."""


def count_values(message: Message) -> int:
    """How many values there are at most, going by the signs between them."""
    return message.count(b",") + message.count(b"[") + message.count(b"{")


def weight(message: Message) -> int:
    """The room that a message takes, in bytes; one of too many values is never read, so they take none."""
    count = count_values(message)
    return len(message) + (VALUE_SIZE * count if count <= MAX_VALUES else 0)


def check_count(message: Message) -> None:
    """@raise OutOfBounds: it holds more values than any honest request."""
    count = count_values(message)
    if count > MAX_VALUES:
        raise OutOfBounds(f"{count} values; allowed are {MAX_VALUES}")


def check_shape(value: object) -> None:
    """@raise OutOfBounds: nested too deep, a number that is too large, or text that no program can be given."""
    level: list[Any] = [[value]]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for each in level for inner in nested(each)]
        if not level:
            return
    raise OutOfBounds(TOO_DEEP)


def nested(container: Any) -> list[Any]:
    """The lists and objects right inside a list or an object. @raise OutOfBounds: as `check_shape`, of what is there."""
    found = []
    if type(container) is dict:
        check_text(container)
        container = container.values()
    for each in container:
        kind = type(each)
        if kind is str:
            check_text((each,))
        elif kind is int:
            if not SMALLEST <= each <= LARGEST:
                raise OutOfBounds(f"an integer of {each.bit_length()} bits; allowed are {SMALLEST} to {LARGEST}")
        elif kind is list or kind is dict:
            found.append(each)
    return found


def check_text(texts: Iterable[str]) -> None:
    """No name of a file, no argument and no variable of a program can hold NUL. @raise OutOfBounds: one of these does."""
    if any("\0" in text for text in texts):
        raise OutOfBounds("text with a NUL character")  # which one is not told: it may be a secret
