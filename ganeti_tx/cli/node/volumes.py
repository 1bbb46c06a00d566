"""gnt-node volumes."""

from collections.abc import Sequence

from ganeti_tx.cli.listing import chosen_fields
from ganeti_tx.cli.node.rows import show_rows
from ganeti_tx.cli.options import MANY_NODES, NO_HEADERS, OUTPUT, PRIORITY, SEPARATOR, TABLE, UNITS, Command
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode

DEFAULT_FIELDS = ("node", "phys", "vg", "name", "size", "instance")
TITLES = {
    "node": "Node", "phys": "PhysDev", "vg": "VG", "name": "Name", "size": "Size", "instance": "Instance", "dev": "Device",
}  # fmt: skip
FIELDS = OUTPUT._replace(words=tuple(TITLES))


def volumes(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the logical volumes."""
    fields = chosen_fields(options.output, DEFAULT_FIELDS)
    rows = run_opcode(session, options, opcode("OP_NODE_QUERYVOLS", nodes=list(names), output_fields=fields))
    show_rows(session, options, fields, TITLES, rows)
    return ExitCode.SUCCESS


LIST = Command(volumes, MANY_NODES, (NO_HEADERS, SEPARATOR, UNITS, FIELDS, PRIORITY), prints=TABLE)
