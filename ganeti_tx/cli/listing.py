"""`list` and `list-fields` of every noun."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.filters import Filter
from ganeti_tx.cli.output import Column, Formatter, Style, query_columns, table, unknown_fields
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.errors import ExitCode

_KIND_WORDS = {
    "bool": "Boolean",
    "float": "Floating-point number",
    "number": "Number",
    "other": "Custom",
    "text": "Text",
    "timestamp": "Timestamp",
    "unit": "Storage size",
    "unknown": "Unknown",
}


def style_of(options: Parsed) -> Style:
    """How the options ask for a table; a command without --units uses the usual ones."""
    given = vars(options)
    return Style(
        headers=not options.no_headers,
        separator=options.separator,
        units=given.get("units"),
        verbose=given.get("verbose", False),
    )


def chosen_fields(output: str | None, default: Sequence[str]) -> list[str]:
    """The fields of -o: none given the usual ones, after a plus the usual ones and more."""
    if not output:
        return list(default)
    if output.startswith("+"):
        return [*default, *_names(output[1:])]
    return _names(output)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def show_list(
    session: Session,
    options: Parsed,
    resource: str,
    default_fields: Sequence[str],
    query_filter: Filter | None,
    overrides: dict[str, Formatter] | None = None,
) -> int:
    """Query and print a table; unknown fields are named on standard error and in the exit status."""
    answer = session.client.query(resource, chosen_fields(options.output, default_fields), query_filter)
    return show_answer(session, options, answer, overrides or {})


def show_answer(session: Session, options: Parsed, answer: dict[str, Any], overrides: dict[str, Formatter]) -> int:
    """Print the answer of a query as a table."""
    style = style_of(options)
    for line in table(query_columns(answer["fields"], style, overrides), answer["data"], style):
        session.print(line)
    return warn_of_unknown(session, answer["fields"])


def show_fields(session: Session, options: Parsed, resource: str, names: Sequence[str]) -> int:
    """Print what fields a resource has; all without names."""
    fields = session.client.query_fields(resource, list(names) or None)["fields"]
    columns = [Column(title, str) for title in ("Name", "Type", "Title", "Description")]
    rows = [(each["name"], _KIND_WORDS.get(each["kind"], each["kind"]), each["title"], each["doc"]) for each in fields]
    for line in table(columns, rows, style_of(options)):
        session.print(line)
    return warn_of_unknown(session, fields)


def warn_of_unknown(session: Session, fields: Sequence[dict[str, Any]]) -> int:
    """The exit status of a query, after naming the fields that the server did not know."""
    unknown = unknown_fields(fields)
    if not unknown:
        return ExitCode.SUCCESS
    session.warn(f"Warning: Queried for unknown fields {', '.join(unknown)}")
    return ExitCode.UNKNOWN_FIELD
