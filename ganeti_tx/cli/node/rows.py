"""Tables of rows that jobs give."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.listing import show_table
from ganeti_tx.cli.output import Column, Style, format_bool, format_size
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session

#: Fields that are MiB, and those that are true or false.
SIZES = frozenset({"size", "used", "free"})
BOOLEANS = frozenset({"allocatable"})


def show_rows(
    session: Session, options: Parsed, fields: Sequence[str], titles: Mapping[str, str], rows: Sequence[Sequence[Any]]
) -> None:
    """Print them."""
    show_table(session, options, lambda style: [column(name, titles, style) for name in fields], rows, fields)


def column(name: str, titles: Mapping[str, str], style: Style) -> Column:
    """That of a field."""
    title = titles.get(name, name)
    if name in SIZES:
        return Column(title, lambda value: format_size(value, style.size_unit), right=True)
    return Column(title, format_bool if name in BOOLEANS else str)
