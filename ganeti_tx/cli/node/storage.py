"""gnt-node list-storage, modify-storage and repair-storage."""

from collections.abc import Sequence

from ganeti_tx.cli.listing import chosen_fields
from ganeti_tx.cli.node.rows import show_rows
from ganeti_tx.cli.options import (
    DRY_RUN,
    MANY_NODES,
    NO_HEADERS,
    OUTPUT,
    PRIORITY,
    SEPARATOR,
    SUBMITTING,
    TABLE,
    UNITS,
    Argument,
    Command,
    Option,
    switch,
    yes_no,
)
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode, unless
from ganeti_tx.errors import ExitCode
from ganeti_tx.model.enums import REPORTED_STORAGE

DEFAULT_FIELDS = ("node", "type", "name", "size", "used", "free", "allocatable")
TITLES = {name: name.capitalize() for name in DEFAULT_FIELDS}
#: What can be listed, changed and mended (Ganeti 3.0 command line table).
LISTED = tuple(each.value for each in REPORTED_STORAGE)
CHANGED = ("lvm-pv",)
MENDED = ("lvm-vg",)
STORAGE_TYPE = Option(
    ("-t", "--storage-type"), "user_storage_type", "the kind of storage", "choice", choices=LISTED,
    metavar="STORAGE_TYPE",
)  # fmt: skip
FIELDS = OUTPUT._replace(words=tuple(TITLES))


def list_storage(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the storage units."""
    fields = chosen_fields(options.output, DEFAULT_FIELDS)
    op = opcode(
        "OP_NODE_QUERY_STORAGE", nodes=list(names), storage_type=options.user_storage_type, output_fields=fields
    )
    show_rows(session, options, fields, TITLES, run_opcode(session, options, op))
    return ExitCode.SUCCESS


def modify_storage(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Change one; to ask for no change is no error, as for Ganeti."""
    node, kind, name = words
    if options.allocatable is None:
        session.warn("No changes to perform, exiting.")
        return ExitCode.SUCCESS
    changes = {"allocatable": options.allocatable}
    op = opcode("OP_NODE_MODIFY_STORAGE", node_name=node, storage_type=kind, name=name, changes=changes)
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


def repair_storage(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """Mend one."""
    node, kind, name = words
    op = opcode(
        "OP_REPAIR_NODE_STORAGE",
        node_name=node,
        storage_type=kind,
        name=name,
        ignore_consistency=unless(False, options.ignore_consistency),
    )
    run_opcode(session, options, op)
    return ExitCode.SUCCESS


LIST = Command(list_storage, MANY_NODES, (NO_HEADERS, SEPARATOR, UNITS, FIELDS, STORAGE_TYPE, PRIORITY), prints=TABLE)
MODIFY = Command(
    modify_storage,
    (Argument("node", 1, 1), Argument("choice", 1, 1, CHANGED), Argument("file", 1, 1, shown="name")),
    (
        yes_no("--allocatable", "allocatable", "whether new volumes may lie on it"), DRY_RUN, PRIORITY, *SUBMITTING,
    ),
)  # fmt: skip
REPAIR = Command(
    repair_storage,
    (Argument("node", 1, 1), Argument("choice", 1, 1, MENDED), Argument("file", 1, 1, shown="name")),
    (
        switch("--ignore-consistency", "ignore_consistency", "though other copies are not good"), DRY_RUN, PRIORITY,
        *SUBMITTING,
    ),
)  # fmt: skip
