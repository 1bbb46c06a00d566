"""What is around every report's data (Ganeti 3.0 monitoring table, "report")."""

from typing import Any

import msgspec

from ganeti_tx.mond.interfaces import ICollector

#: The version of collectors that come with the daemon.
BUILT_IN = "B"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One report; `timestamp` is in nanoseconds since the epoch."""

    name: str
    version: str = BUILT_IN
    format_version: int
    timestamp: int
    category: str | None
    kind: int
    data: Any


def report(collector: ICollector, data: Any, timestamp: int) -> Report:
    """A collector's data in its envelope."""
    return Report(
        name=collector.name,
        format_version=collector.format_version,
        timestamp=timestamp,
        category=collector.category,
        kind=collector.kind,
        data=data,
    )


def listed(collector: ICollector) -> tuple[str, str, int]:
    """A collector's line in the list of collectors."""
    return collector.name, category_in_urls(collector), collector.kind


def category_in_urls(collector: ICollector) -> str:
    """Under which category a report is found."""
    return collector.category or "default"
