"""The seams of the monitoring daemon: a collector, and what it must know of the configuration."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Any

import msgspec
from attrs import field, frozen
from zope.interface import Attribute, Interface

#: A volume group and a logical volume in it.
Volume = tuple[str, str]


class Category(StrEnum):
    """What a collector is about; one without a category is found under "default" (Ganeti 3.0 monitoring table)."""

    INSTANCE = "instance"
    STORAGE = "storage"
    DAEMON = "daemon"
    HYPERVISOR = "hypervisor"


class Kind(IntEnum):
    """Whether a report holds figures, or also says by a status whether all is well."""

    PERFORMANCE = 0
    STATUS = 1


class ICollector(Interface):
    """Finds out one sort of thing about this node."""

    name: str = Attribute("As in its URL, such as 'diskstats'.")
    category: Category | None = Attribute("None is told as 'default' in URLs and lists, as null in reports.")
    kind: Kind = Attribute("See `Kind`.")
    format_version: int = Attribute("Counts the changes of the shape of its data.")

    async def collect() -> Any:
        """The report's data, ready for JSON. May be cancelled; never runs twice at once.

        @raise GanetiError: why there is no report, in one line that goes to clients. @raise OSError: likewise.
        """


class KnownInstance(msgspec.Struct, frozen=True, kw_only=True):
    """What a report may tell of a configured instance; everything else of it, such as its secrets, is not even kept."""

    uuid: str
    name: str
    hypervisor: str
    admin_state: str
    mtime: float = 0.0


@frozen
class NodeFacts:
    """What the configuration says about this node.

    `heard` is false until somebody has told its instances for the first time, `fault` what was wrong the last time.
    """

    instances: tuple[KnownInstance, ...] = ()  # those whose primary node this is
    volumes: Mapping[Volume, str] = field(factory=dict)  # the instance of each logical volume
    minors: Mapping[int, str] = field(factory=dict)  # the instance of each DRBD minor
    heard: bool = False
    fault: str = "nobody was asked yet"


class IConfigFacts(Interface):
    """The last known facts of the configuration; asking costs nothing and never fails."""

    def facts() -> NodeFacts:
        """What is known now."""
