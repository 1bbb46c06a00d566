"""What all records have in common."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

#: Settings by name.
Parameters: TypeAlias = Mapping[str, Any]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Something the cluster has, as it was when it was asked."""


class Entity(Record, frozen=True, kw_only=True):
    """Something that the configuration keeps."""

    name: str
    uuid: str
    serial_no: int
    #: Seconds since the epoch.
    ctime: float | None = None
    mtime: float | None = None
    tags: tuple[str, ...] = ()
