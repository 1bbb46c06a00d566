"""gnt-group list and list-fields."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.cli.listing import show_fields, show_list
from ganeti_tx.cli.options import (
    FIELD_LISTING,
    FILTER,
    MANY_GROUPS,
    MANY_WORDS,
    NO_HEADERS,
    OUTPUT,
    SEPARATOR,
    TABLE,
    VERBOSE,
    Command,
)
from ganeti_tx.cli.output import Formatter, format_list
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.selection import selection
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.tree import leaf

DEFAULT_FIELDS = ("name", "node_cnt", "pinst_cnt", "alloc_policy", "ndparams")


def format_params(params: Mapping[str, Any]) -> str:
    """As options would set them."""
    return ", ".join(f"{name}={leaf(value)}" for name, value in params.items())


FORMATS: dict[str, Formatter] = {"node_list": format_list, "pinst_list": format_list, "ndparams": format_params}


def list_groups(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of node groups."""
    chosen = selection(names, force_filter=options.force_filter)
    return show_list(session, options, "group", DEFAULT_FIELDS, chosen, FORMATS)


def list_fields(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the fields of node groups."""
    return show_fields(session, options, "group", names)


LIST = Command(
    list_groups,
    MANY_GROUPS,
    (NO_HEADERS, SEPARATOR, OUTPUT, VERBOSE, FILTER),
    "GNT_GROUP_LIST",
    prints=TABLE,
    watched=True,
)
LIST_FIELDS = Command(list_fields, MANY_WORDS, FIELD_LISTING, prints=TABLE)
