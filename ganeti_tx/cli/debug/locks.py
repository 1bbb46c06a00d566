"""gnt-debug locks."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.listing import show_list
from ganeti_tx.cli.options import NO_HEADERS, OUTPUT, SEPARATOR, TABLE, VERBOSE, Command, Option
from ganeti_tx.cli.output import Formatter
from ganeti_tx.cli.parsing import Parsed, UsageError
from ganeti_tx.cli.session import Session

DEFAULT_FIELDS = ("name", "mode", "owner", "pending")
_NOTHING = "-"


def locks(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """A table of the locks, again after each interval if there is one."""
    if options.interval is not None and options.interval <= 0:
        raise UsageError(f"invalid interval {options.interval}: give seconds, 1 or more")
    while True:
        status = show_list(session, options, "lock", DEFAULT_FIELDS, None, FORMATS)
        if options.interval is None:
            return status
        if session.document is None:
            session.print()
        session.sleep(options.interval)


def _format_mode(mode: str | None) -> str:
    return mode or _NOTHING


def _format_owners(owners: Sequence[Any] | None) -> str:
    return ",".join(str(owner) for owner in owners) if owners else _NOTHING


def _format_pending(pending: Sequence[Any] | None) -> str:
    """Who waits, in order, by mode."""
    return ";".join(f"{mode}:{_format_owners(owners)}" for mode, owners in pending) if pending else _NOTHING


FORMATS: dict[str, Formatter] = {"mode": _format_mode, "owner": _format_owners, "pending": _format_pending}

LOCKS = Command(
    locks,
    (),
    (
        NO_HEADERS,
        SEPARATOR,
        OUTPUT,
        Option(("--interval",), "interval", "show them again each so many seconds", "int"),
        VERBOSE,
    ),
    prints=TABLE,
)
