"""Logical ids of disks: lists on the wire and in the configuration, whose parts mean something by their template.

A template declares its id as a NamedTuple. The types of its fields say what the parts are; what the program does with ids
(who may have the same one, on which nodes a disk is, what is shown and what is hidden) is read off these types.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple, NewType, get_type_hints

#: Wire form; None in objects that are not placed yet.
Raw = Sequence[str | int] | None

#: A node that the disk lives on.
NodeUuid = NewType("NodeUuid", str)
#: A TCP port of the cluster's pool.
Port = NewType("Port", int)
#: A device number on the node whose field has the same rank among the nodes.
Minor = NewType("Minor", int)
#: A path that has a directory named after the disk's instance as its last, which changes when that is renamed.
InstancePath = NewType("InstancePath", str)
#: Nobody sees it but the nodes.
Secret = NewType("Secret", str)

#: Stands for what may not be seen.
HIDDEN = "<hidden>"


class NoId(NamedTuple):
    """Nothing to name."""


class FileId(NamedTuple):
    """A file: how Xen attaches it, and its path."""

    driver: str
    path: InstancePath


@cache
def kinds(shape: type[tuple[Any, ...]]) -> tuple[Any, ...]:
    """What each part is, as it was declared."""
    return tuple(get_type_hints(shape).values())


@cache
def types(shape: type[tuple[Any, ...]]) -> tuple[type, ...]:
    """What stands at each place on the wire."""
    return tuple(getattr(kind, "__supertype__", kind) for kind in kinds(shape))


@cache
def places_of(shape: type[tuple[Any, ...]], kind: object) -> tuple[int, ...]:
    """Where the parts of a kind stand."""
    return tuple(place for place, declared in enumerate(kinds(shape)) if declared is kind)


def fault(shape: type[tuple[Any, ...]], what: str, raw: Raw) -> str | None:
    """What is wrong with an id; None when it fits. Never shows the id: it may hold a secret."""
    found = tuple(type(part) for part in raw or ())
    if found == types(shape):
        return None
    return f"logical_id of a {what} disk must be {words(types(shape))}, got {words(found)}"


def words(found: Sequence[type]) -> str:
    """Types for people."""
    return "[" + ", ".join(kind.__name__ for kind in found) + "]"


def parts(shape: type[tuple[Any, ...]], kind: object, raw: Raw) -> tuple[Any, ...]:
    """The parts of an id that are declared to be of a kind, such as `NodeUuid`; none of an id that is not complete."""
    places = places_of(shape, kind)
    if not places or raw is None or len(raw) != len(kinds(shape)):
        return ()
    return tuple(raw[place] for place in places)


def of_renamed(shape: type[tuple[Any, ...]], raw: Raw, old: str, new: str) -> Raw:
    """The id when the disk's instance is called otherwise; the same where the old name is not in it."""
    places = places_of(shape, InstancePath)
    return raw and tuple(moved(str(part), old, new) if at in places else part for at, part in enumerate(raw))


def moved(path: str, old: str, new: str) -> str:
    """The path in the directory of the instance's new name, if it was in that of its old one."""
    plain = PurePosixPath(path)
    return str(plain.parent.with_name(new) / plain.name) if plain.parent.name == old else path


def with_parts(shape: type[tuple[Any, ...]], raw: Raw, given: Mapping[object, Sequence[Any]]) -> Raw:
    """The id with others in the place of its parts of some kinds, in their order."""
    if raw is None:
        return None
    new = list(raw)
    for kind, values in given.items():
        for place, value in zip(places_of(shape, kind), values, strict=True):
            new[place] = value
    return tuple(new)


def without_secret(shape: type[tuple[Any, ...]], raw: Raw, instead: str = HIDDEN) -> Raw:
    """The id with other text in the place of what is secret, even if its other parts do not fit."""
    secret = places_of(shape, Secret)
    if raw is None or not secret:
        return raw
    return tuple(instead if index in secret else part for index, part in enumerate(raw))


def shown(shape: type[tuple[Any, ...]], raw: Raw, names: Mapping[str, str]) -> list[str | int]:
    """The id for people: nodes by their names, and nothing of what is secret."""
    known = [(part, kind) for part, kind in zip(raw or (), kinds(shape), strict=False) if kind is not Secret]
    return [names[str(part)] if kind is NodeUuid else part for part, kind in known]
