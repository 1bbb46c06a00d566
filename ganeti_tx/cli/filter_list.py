"""gnt-filter list, list-fields and info."""

import json
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
from ganeti_tx.cli.output import Formatter, format_time
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.selection import selection
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.tree import Labelled, tree_lines
from ganeti_tx.errors import ExitCode

DEFAULT_FIELDS = ("uuid", "watermark", "priority", "predicates", "action", "reason_trail")


def list_rules(session: Session, options: Parsed, uuids: Sequence[str]) -> int:
    """A table of rules."""
    return show_list(session, options, "filter", DEFAULT_FIELDS, _named(uuids), FORMATS)


def list_fields(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the fields of rules."""
    return show_fields(session, options, "filter", names)


def show_rules(session: Session, options: Parsed, uuids: Sequence[str]) -> int:
    """All about rules."""
    rows = session.client.query("filter", DEFAULT_FIELDS, _named(uuids))["data"]
    for row in rows:
        for line in tree_lines([_described(*(value for _status, value in row))]):
            session.print(line)
    return ExitCode.SUCCESS


def _named(uuids: Sequence[str]) -> list[Any] | None:
    return selection(uuids, force_filter=False, field="uuid")


def _described(
    uuid: str, watermark: int, priority: int, predicates: list[Any], action: Any, trail: Sequence[Sequence[Any]]
) -> Labelled:
    return [
        ("UUID", uuid),
        ("Watermark", watermark),
        ("Priority", priority),
        ("Predicates", [json.dumps(predicate) for predicate in predicates]),
        ("Action", format_action(action)),
        ("Reason trail", [f"{format_time(when // 10**9)} {source}: {text}" for source, text, when in trail]),
    ]


def format_action(action: str | Sequence[Any]) -> str:
    """As --action takes it."""
    return action if isinstance(action, str) else " ".join(map(str, action))


FORMATS: dict[str, Formatter] = {"action": format_action, "predicates": json.dumps, "reason_trail": json.dumps}

LIST = Command(list_rules, MANY_FILTERS, (NO_HEADERS, SEPARATOR, OUTPUT, VERBOSE))
LIST_FIELDS = Command(list_fields, MANY_WORDS, FIELD_LISTING)
INFO = Command(show_rules, MANY_FILTERS)
