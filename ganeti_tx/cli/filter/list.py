"""gnt-filter list, list-fields and info."""

from collections.abc import Iterator, Sequence
from typing import Any

from ganeti_tx.cli.listing import show_fields, show_list
from ganeti_tx.cli.options import (
    FIELD_LISTING,
    MANY_FILTERS,
    MANY_WORDS,
    NO_HEADERS,
    OUTPUT,
    SEPARATOR,
    TABLE,
    TREE,
    VERBOSE,
    Command,
)
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show
from ganeti_tx.cli.selection import rows_there, selection
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
    found = rows_there(session, "filter", DEFAULT_FIELDS, uuids, field="uuid")
    rules = [[value for _status, value in row] for row in found]
    lines = (line for rule in rules for line in _lines(*rule))
    show(session, lines, lambda: [dict(zip(DEFAULT_FIELDS, rule, strict=True)) for rule in rules])
    return ExitCode.SUCCESS


def _lines(uuid: str, *values: Any) -> Iterator[str]:
    yield f"UUID: {uuid}"
    for label, value in zip(_LABELS, values, strict=True):
        yield f"  {label}: {value}"


def _named(uuids: Sequence[str]) -> list[Any] | None:
    return selection(uuids, force_filter=False, field="uuid")


LIST = Command(list_rules, MANY_FILTERS, (NO_HEADERS, SEPARATOR, OUTPUT, VERBOSE), prints=TABLE, watched=True)
LIST_FIELDS = Command(list_fields, MANY_WORDS, FIELD_LISTING, prints=TABLE)
INFO = Command(show_rules, MANY_FILTERS, prints=TREE)
