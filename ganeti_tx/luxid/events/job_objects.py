"""Which objects of the cluster an opcode is about, as far as its parameters name them."""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from ganeti_tx.model.event_filter import MAX_NAME
from ganeti_tx.model.events import Kind, ObjectRef

#: Parameters that hold a name, or a list of names (Ganeti 3.0 opcode table).
NAMING = {
    "instance_name": Kind.INSTANCE,
    "instances": Kind.INSTANCE,
    "node_name": Kind.NODE,
    "node_names": Kind.NODE,
    "nodes": Kind.NODE,
    "on_nodes": Kind.NODE,
    "pnode": Kind.NODE,
    "snode": Kind.NODE,
    "target_node": Kind.NODE,
    "remote_node": Kind.NODE,
    "group_name": Kind.GROUP,
    "group": Kind.GROUP,
    "target_groups": Kind.GROUP,
    "network_name": Kind.NETWORK,
}
#: The object of an opcode about tags: its kind as those have it.
TAGGED = {"instance": Kind.INSTANCE, "node": Kind.NODE, "nodegroup": Kind.GROUP, "network": Kind.NETWORK}
#: An event tells so many objects; of more it says that there are more.
MOST = 50


@frozen
class About:
    """The objects, each once, and whether there are more."""

    objects: tuple[ObjectRef, ...] = ()
    more: bool = False


def about(inputs: Iterable[Mapping[str, Any]]) -> About:
    """What opcodes, in their stored form, are about."""
    found: dict[ObjectRef, None] = {}
    for stored in inputs:
        found.update(dict.fromkeys(objects(stored)))
        if len(found) > MOST:
            break
    return About(tuple(found)[:MOST], len(found) > MOST)


def objects(stored: Mapping[str, Any]) -> list[ObjectRef]:
    """The objects that one opcode names; those of an opcode about many instances too."""
    refs: list[ObjectRef] = []
    for parameter, kind in NAMING.items():
        value = stored.get(parameter)
        if name := name_in(value):
            refs.append((kind, name))
        elif isinstance(value, list):
            refs += [(kind, name) for each in value[: MOST + 1] if (name := name_in(each))]
    kind_of_tags, name = stored.get("kind"), stored.get("name")
    if (tagged := name_in(name)) and kind_of_tags in TAGGED:
        refs.append((TAGGED[kind_of_tags], tagged))
    return refs


def name_in(value: Any) -> str | None:
    """A name by itself, or in the opcode that makes an instance."""
    name = value.get("instance_name") if isinstance(value, dict) else value
    return name if isinstance(name, str) and len(name) <= MAX_NAME else None
