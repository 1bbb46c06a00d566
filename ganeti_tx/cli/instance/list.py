"""gnt-instance list and list-fields."""

from collections.abc import Sequence

from ganeti_tx.cli.listing import show_fields, show_list
from ganeti_tx.cli.options import FIELD_LISTING, LISTING, MANY_INSTANCES, MANY_WORDS, TABLE, Command
from ganeti_tx.cli.output import Formatter, format_list
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.selection import selection
from ganeti_tx.cli.session import Session

DEFAULT_FIELDS = ("name", "hypervisor", "os", "pnode", "status", "oper_ram")
JOINED = (
    "disk.sizes", "nic.bridges", "nic.ips", "nic.links", "nic.macs", "nic.modes", "nic.networks", "snodes",
    "snodes.group", "snodes.group.uuid", "tags",
)  # fmt: skip
FORMATS: dict[str, Formatter] = dict.fromkeys(JOINED, format_list)


def list_instances(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of instances."""
    chosen = selection(names, force_filter=options.force_filter)
    return show_list(session, options, "instance", DEFAULT_FIELDS, chosen, FORMATS)


def list_fields(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the fields of instances."""
    return show_fields(session, options, "instance", names)


LIST = Command(list_instances, MANY_INSTANCES, LISTING, "GNT_INSTANCE_LIST", prints=TABLE, watched=True)
LIST_FIELDS = Command(list_fields, MANY_WORDS, FIELD_LISTING, prints=TABLE)
