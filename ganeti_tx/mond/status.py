"""How a status collector says whether all is well (Ganeti 3.0 monitoring table, "status_codes")."""

from collections.abc import Iterable
from enum import IntEnum

import msgspec


class StatusCode(IntEnum):
    """A higher one is worse."""

    OK = 0
    TEMPORARY = 1
    UNKNOWN = 2
    BAD = 4


class Status(msgspec.Struct, frozen=True):
    """A code and, unless all is well, what it is about."""

    code: StatusCode = StatusCode.OK
    message: str = ""


def worst(statuses: Iterable[Status]) -> Status:
    """The worst code, with the messages of all that are not well."""
    found = list(statuses)
    messages = [each.message for each in found if each.message]
    return Status(max((each.code for each in found), default=StatusCode.OK), "; ".join(messages))
