"""gnt-node list, list-fields and info."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.filters import Filter
from ganeti_tx.cli.listing import show_fields, show_list
from ganeti_tx.cli.node.naming import of_group
from ganeti_tx.cli.options import FIELD_LISTING, LISTING, MANY_NODES, MANY_WORDS, TABLE, TREE, Command, Option
from ganeti_tx.cli.output import Formatter, format_list
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.presented import show_trees
from ganeti_tx.cli.selection import both, rows_there, selection
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.tree import Parameters, Told, leaf
from ganeti_tx.errors import ExitCode

DEFAULT_FIELDS = ("name", "dtotal", "dfree", "mtotal", "mnode", "mfree", "pinst_cnt", "sinst_cnt")
FORMATS: dict[str, Formatter] = dict.fromkeys(("pinst_list", "sinst_list", "tags"), format_list)
INFO_FIELDS = (
    "name", "pip", "sip", "pinst_list", "sinst_list", "master_candidate", "drained", "offline", "master_capable",
    "vm_capable", "powered", "ndparams", "custom_ndparams",
)  # fmt: skip
#: design-2.3, node groups; Ganeti 3 has `-F 'group == "x"'` for it.
GROUP = Option(
    ("-g", "--node-group"), "nodegroup", "only the nodes of this group", "string", metavar="<nodegroup>", own=True
)


def list_nodes(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of nodes. @raise OpPrereqError: there is no group of the name."""
    chosen = both(selection(names, force_filter=options.force_filter), _of_group(session, options))
    return show_list(session, options, "node", DEFAULT_FIELDS, chosen, FORMATS)


def _of_group(session: Session, options: Parsed) -> Filter | None:
    return None if options.nodegroup is None else ["==", "group", of_group(session, options.nodegroup)[0]]


def list_fields(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the fields of nodes."""
    return show_fields(session, options, "node", names)


def show_nodes(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """All about nodes. @raise OpPrereqError: there is no group of the name."""
    rows = rows_there(session, "node", INFO_FIELDS, names, more=_of_group(session, options))
    nodes = [{name: value for name, (_status, value) in zip(INFO_FIELDS, row, strict=True)} for row in rows]
    show_trees(session, [_described(node) for node in nodes])
    if not rows and session.document is None:
        session.print()
    return ExitCode.SUCCESS


def _described(node: dict[str, Any]) -> list[tuple[str, Any]]:
    custom = node["custom_ndparams"] or {}
    return [
        ("Node name", node["name"]),
        ("primary ip", node["pip"]),
        ("secondary ip", node["sip"]),
        ("master candidate", node["master_candidate"]),
        ("drained", node["drained"]),
        ("offline", node["offline"]),
        *([("powered", node["powered"])] if node["powered"] is not None else []),
        ("master_capable", node["master_capable"]),
        ("vm_capable", node["vm_capable"]),
        *([("primary for instances", sorted(node["pinst_list"] or []))] if node["vm_capable"] else []),
        *([("secondary for instances", sorted(node["sinst_list"] or []))] if node["vm_capable"] else []),
        (
            "node parameters",
            Parameters(
                ((key, _origin(key, value, custom)) for key, value in sorted((node["ndparams"] or {}).items())), custom
            ),
        ),
    ]


def _origin(key: str, value: Any, custom: dict[str, Any]) -> Told:
    return Told(leaf(custom[key]), custom[key]) if key in custom else Told(f"default ({leaf(value)})", value)


LIST = Command(list_nodes, MANY_NODES, (*LISTING, GROUP), "GNT_NODE_LIST", prints=TABLE, watched=True)
LIST_FIELDS = Command(list_fields, MANY_WORDS, FIELD_LISTING, prints=TABLE)
INFO = Command(show_nodes, MANY_NODES, (GROUP,), prints=TREE)
