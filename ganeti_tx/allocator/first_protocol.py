"""The first protocol (design iallocator-1.2), for programs that ask for it: the document of the second one, put as they know it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ganeti_tx.errors import OpExecError
from ganeti_tx.model.opcodes.types import AllocatorMode

VERSION = 1
#: The kinds of requests that it knows.
KINDS = (AllocatorMode.ALLOCATE, AllocatorMode.RELOCATE)
TOP = ("cluster_name", "cluster_tags")
NODE = ("total_disk", "free_disk", "total_memory", "free_memory", "total_cpus", "primary_ip", "secondary_ip", "tags")
#: What it knows of an instance, of a new one, too.
INSTANCE = ("vcpus", "disk_template", "memory", "os", "tags")
REQUEST = ("type", "name", "required_nodes", "disk_space_total")
#: Modes of disks.
MODES = {"rw": "w", "ro": "r"}


def as_first(idata: str) -> str:
    """The document. Nodes that must not be chosen are left out, as it has no word for them.

    @raise OpExecError: the first protocol has no such request.
    """
    second: dict[str, Any] = msgspec.json.decode(idata)
    request = second["request"]
    if request["type"] not in KINDS:
        known = ", ".join(KINDS)
        raise OpExecError(f"protocol {VERSION} has no requests of kind {request['type']}, only {known}")
    first = {
        "version": VERSION,
        **picked(second, TOP),
        "request": request_entry(request),
        "instances": {name: instance_entry(entry) for name, entry in second["instances"].items()},
        "nodes": {
            name: picked(entry, NODE) for name, entry in second["nodes"].items() if may_be_chosen(name, entry, request)
        },
    }
    return msgspec.json.encode(first).decode()


def may_be_chosen(name: str, node: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    """Whether an instance may come to a node, as far as that is not a question of room."""
    among = request.get("restrict-to-nodes", [name])
    return name in among and node["vm_capable"] and not node["offline"] and not node["drained"]


def request_entry(request: Mapping[str, Any]) -> dict[str, Any]:
    """A new instance, or one that is to leave a node."""
    if request["type"] == AllocatorMode.RELOCATE:
        return picked(request, (*REQUEST, "relocate_from"))
    return {**picked(request, REQUEST), **guest(request)}


def instance_entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """One that is there."""
    return {**guest(entry), "should_run": entry["admin_state"] == "up", "nodes": entry["nodes"]}


def guest(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of both."""
    return {
        **picked(entry, INSTANCE),
        "disks": [{"mode": MODES.get(disk["mode"], "w"), "size": disk["size"]} for disk in entry["disks"]],
        "nics": [{"ip": nic["ip"], "mac": nic["mac"], "bridge": nic.get("bridge")} for nic in entry["nics"]],
    }


def picked(entry: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    """Some of its keys."""
    return {key: entry[key] for key in keys}
