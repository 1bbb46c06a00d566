"""How every change of the configuration is put together: optimistic check, replacement, verification of what it touches."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import attrs
from msgspec.structs import replace

from ganeti_tx.config.claims import Claim
from ganeti_tx.errors import ConfigurationError, ECode, OpPrereqError
from ganeti_tx.model.base import Tracked, touched
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.lookup import not_known

#: A pure function of the configuration and the time (seconds since the epoch).
#: @raise ConfigurationError: refused; @raise OpPrereqError: what it is about is not there.
Edit = Callable[[ConfigData, float], ConfigData]
#: Lists what is wrong with the part of a configuration that a change touches.
Faults = Callable[[ConfigData], list[str]]

#: So many faults an error names before it says "and N more".
MAX_FAULTS = 10

T = TypeVar("T", bound=Tracked)
V = TypeVar("V")
R = TypeVar("R")


def nothing(config: ConfigData) -> None:
    """What a caller is given who only wants to know that it is done."""


@attrs.frozen
class Change(Generic[R]):
    """An edit that can be asked for.

    @ivar gives: what the caller is given of the configuration as it was written.
    @ivar claims: what the object that is put in place uses; no other owner may have reserved it.
    """

    edit: Edit
    gives: Callable[[ConfigData], R]
    claims: Sequence[Claim] = ()

    def __call__(self, config: ConfigData, now: float) -> ConfigData:
        """The edited configuration. @raise GanetiError: as `Edit`."""
        return self.edit(config, now)


def stored(kind: str, by_uuid: Mapping[str, V], uuid: str) -> V:
    """The object of a uuid. @raise OpPrereqError: unknown_entity."""
    held = by_uuid.get(uuid)
    if held is None:
        raise OpPrereqError(not_known(kind, uuid), ECode.NOENT)
    return held


def renewed(what: str, held: T, given: T, now: float) -> T:
    """The given value as the successor of the one that is held.

    @raise ConfigurationError: the given value was made from an older (or no) version of the object.
    """
    if given.serial_no != held.serial_no:
        age = "older" if given.serial_no < held.serial_no else "newer"
        raise ConfigurationError(
            f"{what} was changed meanwhile: the configuration has serial number {held.serial_no}, the change was made "
            f"to the {age} {given.serial_no}; read it again and repeat the change"
        )
    return touched(replace(given, ctime=held.ctime), now)


def fresh(given: T, now: float) -> T:
    """An object that enters the configuration: its count begins."""
    return replace(given, serial_no=1, ctime=now, mtime=now)


def with_objects(config: ConfigData, container: str, objects: Iterable[Any]) -> ConfigData:
    """The configuration with objects put in place, by uuid."""
    held = {**getattr(config, container), **{each.uuid: each for each in objects}}
    return replace(config, **{container: held})


def without_objects(config: ConfigData, container: str, uuids: Iterable[str]) -> ConfigData:
    """The configuration without some objects."""
    gone = set(uuids)
    held = {uuid: each for uuid, each in getattr(config, container).items() if uuid not in gone}
    return replace(config, **{container: held})


def absent(what: str, container: Mapping[str, object], uuid: str) -> None:
    """@raise ConfigurationError: there is an object of that uuid."""
    if uuid in container:
        raise ConfigurationError(f"{what} cannot be added: its uuid {uuid} is taken")


def checked(before: ConfigData, after: ConfigData, faults: Faults) -> ConfigData:
    """The configuration after the change, if that has no fault which was not there before.

    @raise ConfigurationError: it has; the text lists them.
    """
    found = faults(after)
    if found:
        known = set(faults(before))
        found = [fault for fault in found if fault not in known]
    if not found:
        return after
    more = f"; and {len(found) - MAX_FAULTS} more" if len(found) > MAX_FAULTS else ""
    raise ConfigurationError("the change was refused: " + "; ".join(found[:MAX_FAULTS]) + more)
