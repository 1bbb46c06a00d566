"""gnt-backup list and list-fields."""

from collections.abc import Sequence

from ganeti_tx.cli.filters import Filter
from ganeti_tx.cli.listing import show_fields, show_list
from ganeti_tx.cli.options import (
    FIELD_LISTING,
    MANY_WORDS,
    NO_HEADERS,
    OUTPUT,
    SEPARATOR,
    TABLE,
    UNITS,
    VERBOSE,
    Command,
    Option,
)
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session

DEFAULT_FIELDS = ("node", "export")
NODES = Option(
    ("-n", "--node"), "nodes", "only the exports on this node; may be repeated", "string", [], "append",
    metavar="<node>",
)  # fmt: skip


def list_exports(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """A table of the exports that nodes have."""
    return show_list(session, options, "export", DEFAULT_FIELDS, _on(options.nodes))


def _on(nodes: Sequence[str]) -> Filter | None:
    return ["|", *(["=", "node", name] for name in nodes)] if nodes else None


def list_fields(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the fields of exports."""
    return show_fields(session, options, "export", names)


LIST = Command(list_exports, (), (NODES, NO_HEADERS, SEPARATOR, UNITS, OUTPUT, VERBOSE), prints=TABLE, watched=True)
LIST_FIELDS = Command(list_fields, MANY_WORDS, FIELD_LISTING, prints=TABLE)
