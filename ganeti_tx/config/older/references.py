"""Before 2.9 nodes and instances stood under their names and were referred to by them; betas of 2.7 did so with networks."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.config.older.disks import template_of
from ganeti_tx.config.older.raw import Raw, mapping, objects

BY_UUID = ("nodes", "instances", "networks")


def refer_by_uuid(raw: Raw) -> None:
    """Containers by uuid, and uuids in the place of names."""
    nodes, networks = uuids(raw, "nodes"), uuids(raw, "networks")
    for container in BY_UUID:
        if isinstance(held := raw.get(container), dict):
            raw[container] = {key_of(key, each): each for key, each in held.items()}
    renamed(mapping(raw, "cluster"), "master_node", nodes)
    for group in objects(raw, "nodegroups"):
        if isinstance(connected := group.get("networks"), dict):
            group["networks"] = {networks.get(key, key): params for key, params in connected.items()}
    for instance in objects(raw, "instances"):
        renamed(instance, "primary_node", nodes)
        for nic in objects(instance, "nics"):
            renamed(nic, "network", networks)
        mirrors_by_uuid(objects(instance, "disks"), nodes)


def uuids(raw: Raw, container: str) -> Mapping[str, str]:
    """By name."""
    known = ((each.get("name"), each.get("uuid")) for each in objects(raw, container))
    return {name: uuid for name, uuid in known if isinstance(name, str) and isinstance(uuid, str)}


def key_of(key: str, held: Any) -> str:
    """Under which an object is to stand."""
    uuid = held.get("uuid") if isinstance(held, dict) else None
    return uuid if isinstance(uuid, str) and uuid else key


def renamed(holder: Raw, key: str, uuids: Mapping[str, str]) -> None:
    """What is no known name is taken for a uuid."""
    name = holder.get(key)
    if isinstance(name, str) and name in uuids:
        holder[key] = uuids[name]


def mirrors_by_uuid(disks: list[Raw], nodes: Mapping[str, str]) -> None:
    """A mirror's logical id begins with its nodes."""
    for disk in disks:
        ends = disk.get("logical_id")
        template = template_of(disk)
        if template is not None and template.secondaries and isinstance(ends, list):
            own = 1 + template.secondaries
            disk["logical_id"] = [*(nodes.get(str(end), end) for end in ends[:own]), *ends[own:]]
