"""`list` and `list-fields` of every noun."""

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.filters import Filter
from ganeti_tx.cli.hints import hint_of_fields
from ganeti_tx.cli.output import Column, Formatter, Style, query_columns, table, unknown_fields
from ganeti_tx.cli.parsing import OptionError, Parsed
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


#: A value of a field to what programs get of it.
Reader = Callable[[Any], Any]


def style_of(session: Session, options: Parsed) -> Style:
    """How the options ask for a table; a command without --units uses the usual ones."""
    given = vars(options)
    paints = options.separator is None and session.paints
    return Style(
        headers=not options.no_headers,
        separator=options.separator,
        units=given.get("units"),
        verbose=given.get("verbose", False),
        paint=importlib.import_module("ganeti_tx.cli.colours").painted_cell if paints else None,
    )


def chosen_fields(output: str | None, default: Sequence[str]) -> list[str]:
    """The fields of -o: none given the usual ones, after a plus the usual ones and more.

    @raise OptionError: one has no name.
    """
    if not output:
        return list(default)
    if output.startswith("+"):
        return [*default, *_names(output[1:], output)]
    return _names(output, output)


def _names(text: str, typed: str) -> list[str]:
    names = text.split(",")
    if "" in names:
        raise OptionError(
            f"option -o: field {names.index('') + 1} of {typed!r} has no name; give names with one comma between two"
        )
    return names


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


def show_answer(
    session: Session,
    options: Parsed,
    answer: dict[str, Any],
    overrides: dict[str, Formatter],
    readers: Mapping[str, Reader] | None = None,
) -> int:
    """Print the answer of a query as a table. @param readers: what programs get of some fields by name"""
    fields = answer["fields"]
    if session.document is not None:
        records = importlib.import_module("ganeti_tx.cli.records")
        verbose = vars(options).get("verbose", False)
        session.emit(*records.of_answer(fields, answer["data"], readers or {}, verbose=verbose))
    else:
        style = style_of(session, options)
        session.write_lines(table(query_columns(fields, style, overrides), answer["data"], style))
    return warn_of_unknown(session, fields)


def show_table(
    session: Session,
    options: Parsed,
    columns: Callable[[Style], Sequence[Column]],
    rows: Sequence[Sequence[Any]],
    keys: Sequence[str],
    values: Iterable[Sequence[Any]] | None = None,
) -> None:
    """Print rows as a table. @param keys: of the columns, for programs, which get `values` if those differ from the rows"""
    if session.document is not None:
        session.emit([dict(zip(keys, row, strict=True)) for row in (rows if values is None else values)], keys)
        return
    style = style_of(session, options)
    session.write_lines(table(columns(style), rows, style))


def show_fields(session: Session, options: Parsed, resource: str, names: Sequence[str]) -> int:
    """Print what fields a resource has; all without names. Programs get the kinds by their names on the wire."""
    fields = session.client.query_fields(resource, list(names) or None)["fields"]
    columns = [Column(title, str) for title in ("Name", "Type", "Title", "Description")]
    rows = [(each["name"], _KIND_WORDS.get(each["kind"], each["kind"]), each["title"], each["doc"]) for each in fields]
    values = [(each["name"], each["kind"], each["title"], each["doc"]) for each in fields]
    show_table(session, options, lambda _style: columns, rows, ("name", "type", "title", "description"), values)
    return warn_of_unknown(session, fields)


def warn_of_unknown(session: Session, fields: Sequence[dict[str, Any]]) -> int:
    """The exit status of a query, after naming the fields that the server did not know."""
    unknown = unknown_fields(fields)
    if not unknown:
        return ExitCode.SUCCESS
    session.warn(f"Warning: Queried for unknown fields {', '.join(unknown)}")
    if more := hint_of_fields(session, unknown):
        session.warn(more)
    return ExitCode.UNKNOWN_FIELD
