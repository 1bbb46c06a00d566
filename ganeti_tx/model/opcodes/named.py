"""What opcodes name: instances that are there, nodes, and what instances are to be called."""

from collections.abc import Iterator, Mapping
from typing import Any

from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.instance import OpInstanceRename
from ganeti_tx.model.opcodes.instance_create import OpInstanceCreate

#: Of the opcodes that may be submitted by who is kept to some instances, those that name none which is there.
WITHOUT_INSTANCE = frozenset({"OP_INSTANCE_CREATE", "OP_OS_DIAGNOSE"})
#: Parameters that name nodes.
NODES = ("pnode", "snode", "target_node", "secondary_node", "remote_node", "nodes")


def instances_of(raw: Mapping[str, Any]) -> list[str]:
    """The names that an opcode in wire form has for instances which are there; empty when it has none."""
    if raw.get("OP_ID") in WITHOUT_INSTANCE:
        return []
    if raw.get("OP_ID") in ("OP_TAGS_SET", "OP_TAGS_DEL"):
        return [str(raw.get("name"))] if raw.get("kind") == "instance" else []
    named = raw.get("instances") if raw.get("OP_ID") == "OP_INSTANCE_QUERY_DATA" else [raw.get("instance_name")]
    return [name for name in named or [] if isinstance(name, str)]


def nodes_of(op: OpCode) -> Iterator[tuple[str, object]]:
    """Every node that an opcode names, behind the parameter that it stands in; what is no text describes one otherwise."""
    for name in NODES:
        value = getattr(op, name, None)
        for node in value if isinstance(value, tuple) else [value]:
            if node is not None:
                yield name, node


def new_names_of(op: OpCode) -> Iterator[str]:
    """What an opcode would have instances be called from then on."""
    if isinstance(op, OpInstanceCreate):
        yield op.instance_name
    if isinstance(op, OpInstanceRename):
        yield op.new_name
