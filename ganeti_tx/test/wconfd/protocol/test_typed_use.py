"""The daemon's own methods as a type checker sees them; mypy refuses what is marked, or the mark would be an error."""

from typing import assert_type

from ganeti_tx.metrics.readings import Readings
from ganeti_tx.wconfd.protocol.client import NOBODY
from ganeti_tx.wconfd.protocol.link import Link
from ganeti_tx.wconfd.protocol.own_calls import (
    LIST_LOCKS,
    OPPORTUNISTIC_UNION,
    READ_METRICS,
    REMOVE_LOCK,
    SET_LOCK_PRIORITY,
    SPREAD_RAPI_FILES,
)


async def use(link: Link) -> None:
    """What each gives."""
    assert_type(await link.ask(LIST_LOCKS, NOBODY), dict[str, str])
    assert_type(await link.ask(OPPORTUNISTIC_UNION, NOBODY, [("node/a", "shared")], priority=0), list[str])
    assert_type(await link.ask(READ_METRICS, NOBODY), Readings)
    assert_type(await link.ask(SPREAD_RAPI_FILES, NOBODY, 5.0), list[tuple[str, str]])


async def misuse(link: Link) -> None:
    """What is no call."""
    await link.ask(SET_LOCK_PRIORITY, NOBODY, "high")  # type: ignore[arg-type]
    await link.ask(REMOVE_LOCK, NOBODY)  # type: ignore[call-arg]
    await link.ask(LIST_LOCKS, NOBODY, "web1")  # type: ignore[call-arg]
