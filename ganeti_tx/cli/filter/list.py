"""gnt-filter list, list-fields and info."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.listing import show_fields, show_list
from ganeti_tx.cli.options import (
    FIELD_LISTING,
    MANY_FILTERS,
    MANY_WORDS,
    NO_HEADERS,
    OUTPUT,
    SEPARATOR,
    VERBOSE,
    Command,
)
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.selection import selection
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode

DEFAULT_FIELDS = ("uuid", "watermark", "priority", "predicates", "action", "reason_trail")
_LABELS = ("Watermark", "Priority", "Predicates", "Action", "Reason trail")


def list_rules(session: Session, options: Parsed, uuids: Sequence[str]) -> int:
    """A table of rules."""
    return show_list(session, options, "filter", DEFAULT_FIELDS, _named(uuids))


def list_fields(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the fields of rules."""
    return show_fields(session, options, "filter", names)


def show_rules(session: Session, options: Parsed, uuids: Sequence[str]) -> int:
    """All about rules."""
    for row in session.client.query("filter", DEFAULT_FIELDS, _named(uuids))["data"]:
        uuid, *values = (value for _status, value in row)
        session.print(f"UUID: {uuid}")
        for label, value in zip(_LABELS, values, strict=True):
            session.print(f"  {label}: {value}")
    return ExitCode.SUCCESS


def _named(uuids: Sequence[str]) -> list[Any] | None:
    return selection(uuids, force_filter=False, field="uuid")


LIST = Command(list_rules, MANY_FILTERS, (NO_HEADERS, SEPARATOR, OUTPUT, VERBOSE))
LIST_FIELDS = Command(list_fields, MANY_WORDS, FIELD_LISTING)
INFO = Command(show_rules, MANY_FILTERS)
