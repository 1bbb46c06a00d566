"""Finding one of an instance's disks or NICs by what a request calls it."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.names import check_device_name
from ganeti_tx.model.params.kinds import to_int

T = TypeVar("T")

#: As an index: the last one, or behind the last one.
END = -1
#: Changes of one request for each item that an instance can have.
AT_ONCE = 4


class Named(Protocol):
    """What can be found."""

    @property
    def uuid(self) -> str:
        """The one of its own."""

    @property
    def name(self) -> str | None:
        """What people call it, if they do."""


def found(kind: str, word: int | str, held: Sequence[Named]) -> int:
    """The index of what an index, a uuid or else a name means. @raise OpPrereqError: there is none, or there are several."""
    index = to_int(word)
    if index is not None:
        if not END <= index < len(held) or not held:
            raise OpPrereqError(f"Got {kind} index {index}, but there are only {len(held)}", ECode.INVAL)
        return index % len(held)
    by_uuid = [place for place, each in enumerate(held) if each.uuid == word]
    meant = by_uuid or [place for place, each in enumerate(held) if each.name == word]
    if not meant:
        raise OpPrereqError(
            f"Cannot find {kind} with identifier {word!r:.100}; give its index, name or uuid", ECode.NOENT
        )
    if len(meant) > 1:
        places = ", ".join(map(str, meant))
        raise OpPrereqError(f"{kind} {word!r:.100} is not the only one of that name ({places}); give its index or uuid",
                            ECode.INVAL)  # fmt: skip
    return meant[0]


def check_number(kind: str, number: int, most: int) -> None:
    """@raise OpPrereqError: so many cannot be."""
    if number > most:
        raise OpPrereqError(f"Instance would have {number} {kind}s; allowed are {most}", ECode.STATE)


def check_requests(kind: str, number: int, most: int) -> None:
    """Each is worked out, and takes what it needs, before all are counted.

    @raise OpPrereqError: there are far more changes than it takes to exchange all that an instance can have.
    """
    if number > AT_ONCE * most:
        raise OpPrereqError(
            f"{number} changes of {kind}s at once are too many; allowed are {AT_ONCE * most}", ECode.INVAL
        )


def place(kind: str, word: int | str, held: Sequence[Named]) -> int:
    """The index that something new gets. @raise OpPrereqError: there is no such place."""
    index = to_int(word)
    if index is None or not END <= index <= len(held):
        raise OpPrereqError(
            f"{kind} cannot be added at {word!r:.100}; give an index from 0 to {len(held)}, or -1 for the end",
            ECode.INVAL,
        )
    return len(held) if index == END else index


def check_name(kind: str, name: str | None, others: Sequence[Named]) -> None:
    """@raise OpPrereqError: the name is not allowed, or another one has it, as its name or its uuid."""
    check_device_name(kind, name, [word for each in others for word in (each.name, each.uuid)])


def inserted(held: Sequence[T], index: int, new: T) -> tuple[T, ...]:
    """With one more."""
    return (*held[:index], new, *held[index:])


def without(held: Sequence[T], index: int) -> tuple[T, ...]:
    """With one less."""
    return (*held[:index], *held[index + 1 :])


def replaced(held: Sequence[T], index: int, new: T) -> tuple[T, ...]:
    """With another in its place."""
    return (*held[:index], new, *held[index + 1 :])
