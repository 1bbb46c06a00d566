"""gnt-node list-drbd."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ganeti_tx.cli.listing import show_table
from ganeti_tx.cli.options import NO_HEADERS, ONE_NODE, SEPARATOR, TABLE, Command
from ganeti_tx.cli.output import Column
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.submit import opcode, run_opcode
from ganeti_tx.errors import ExitCode

TITLES = ("Node", "Minor", "Instance", "Disk", "Role", "PeerNode")
#: The same for programs.
KEYS = ("node", "minor", "instance", "disk", "role", "peer_node")
#: How many words the logical id of a mirror has: both nodes, the port between them, the minor on each.
_WORDS = 5
Disk = Mapping[str, Any]


def list_mirrors(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the minors that the configuration gives to disks on a node, by their numbers."""
    fields = ["name", "pinst_list", "sinst_list"]
    ((_, name), (_, primary), (_, secondary)) = session.client.query("node", fields, ["==", "name", names[0]])["data"][
        0
    ]
    rows: list[list[Any]] = []
    if instances := [*primary, *secondary]:
        op = opcode("OP_INSTANCE_QUERY_DATA", instances=instances, static=True, use_locking=False)
        found = run_opcode(session, options, op)
        rows = sorted(row for instance in found.values() for row in minors_of(instance, name))
    show_table(session, options, lambda _style: [Column(title, str) for title in TITLES], rows, KEYS)
    return ExitCode.SUCCESS


def minors_of(instance: Mapping[str, Any], node: str) -> Iterator[list[Any]]:
    """A row for each mirror of an instance, as OP_INSTANCE_QUERY_DATA describes it, that has a side on a node."""
    role = "primary" if instance["pnode"] == node else "secondary"
    for index, disk in enumerate(instance.get("disks") or ()):
        for one, other, _port, minor, other_minor in map(_mirror, mirrors_in(disk)):
            if node in (one, other):
                here, peer = (minor, other) if node == one else (other_minor, one)
                yield [node, here, instance["name"], f"disk/{index}", role, peer]


def mirrors_in(disk: Disk) -> Iterator[Disk]:
    """A disk and those it is made of, as far as they are mirrors."""
    if len(disk.get("logical_id") or ()) >= _WORDS:
        yield disk
    for child in disk.get("children") or ():
        yield from mirrors_in(child)


def _mirror(disk: Disk) -> Sequence[Any]:
    return list(disk["logical_id"])[:_WORDS]


LIST = Command(list_mirrors, ONE_NODE, (NO_HEADERS, SEPARATOR), prints=TABLE)
