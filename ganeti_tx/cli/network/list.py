"""gnt-network list and list-fields."""

from collections.abc import Iterable, Sequence

from ganeti_tx.cli.listing import show_fields, show_list
from ganeti_tx.cli.options import (
    FIELD_LISTING,
    MANY_WORDS,
    NO_HEADERS,
    OUTPUT,
    SEPARATOR,
    TABLE,
    VERBOSE,
    Argument,
    Command,
)
from ganeti_tx.cli.output import Formatter, format_list
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.selection import selection
from ganeti_tx.cli.session import Session

DEFAULT_FIELDS = ("name", "network", "gateway", "mac_prefix", "group_list", "tags")
MANY_NETWORKS = (Argument("network"),)


def format_groups(groups: Iterable[Sequence[str]]) -> str:
    """Each as "default (bridged, br0, )": its name, and mode, link and vlan."""
    return ", ".join(f"{name} ({', '.join(params)})" for name, *params in groups)


FORMATS: dict[str, Formatter] = {
    "group_list": format_groups,
    **dict.fromkeys(("inst_list", "tags"), format_list),
}


def list_networks(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of networks. @raise OpPrereqError: there is none of a name."""
    chosen = selection(names, force_filter=False)
    return show_list(session, options, "network", DEFAULT_FIELDS, chosen, FORMATS)


def list_fields(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the fields of networks."""
    return show_fields(session, options, "network", names)


LIST = Command(list_networks, MANY_NETWORKS, (NO_HEADERS, SEPARATOR, OUTPUT, VERBOSE), prints=TABLE, watched=True)
LIST_FIELDS = Command(list_fields, MANY_WORDS, FIELD_LISTING, prints=TABLE)
