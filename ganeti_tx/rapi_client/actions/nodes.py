"""Nodes."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.rapi_client.actions.listing import names
from ganeti_tx.rapi_client.records.node import Node
from ganeti_tx.rapi_client.request import JobId, Request, get, given, path, submit


def get_nodes() -> Request[list[str]]:
    """The nodes' names."""
    return names("/2/nodes", "id")


def get_nodes_bulk() -> Request[list[Node]]:
    """All nodes in full."""
    return get("/2/nodes", list[Node], {"bulk": True})


def get_node(node: str) -> Request[Node]:
    """One node."""
    return get(path("/2/nodes/{}", node), Node)


def get_node_role(node: str) -> Request[str]:
    """master, master-candidate, regular, drained or offline."""
    return get(path("/2/nodes/{}/role", node), str)


def set_node_role(
    node: str, role: str, *, force: bool = False, auto_promote: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Give a node another role: master-candidate, regular, drained or offline."""
    query = {"force": force, "auto-promote": auto_promote, "reason": reason}
    return submit("PUT", path("/2/nodes/{}/role", node), query, role)


def modify_node(node: str, *, reason: str | None = None, **parameters: Any) -> Request[JobId]:
    """Change a node: the parameters of OP_NODE_SET_PARAMS."""
    return submit("POST", path("/2/nodes/{}/modify", node), {"reason": reason}, parameters)


def migrate_node(
    node: str,
    *,
    mode: str | None = None,
    iallocator: str | None = None,
    target_node: str | None = None,
    reason: str | None = None,
) -> Request[JobId]:
    """Move the running instances away whose primary node it is; `mode` is "live" or "non-live"."""
    body = given(mode=mode, iallocator=iallocator, target_node=target_node)
    return submit("POST", path("/2/nodes/{}/migrate", node), {"reason": reason}, body)


def evacuate_node(
    node: str,
    mode: str,
    *,
    iallocator: str | None = None,
    remote_node: str | None = None,
    early_release: bool | None = None,
    dry_run: bool = False,
    reason: str | None = None,
) -> Request[JobId]:
    """Move instances off a node; `mode` is "primary-only", "secondary-only" or "all". The job's result is its jobs."""
    body = given(mode=mode, iallocator=iallocator, remote_node=remote_node, early_release=early_release)
    return submit("POST", path("/2/nodes/{}/evacuate", node), {"dry-run": dry_run, "reason": reason}, body)


def powercycle_node(node: str, *, force: bool = False, reason: str | None = None) -> Request[JobId]:
    """Restart a node at once, whatever runs on it."""
    return submit("POST", path("/2/nodes/{}/powercycle", node), {"force": force, "reason": reason})


def get_node_storage_units(
    node: str, storage_type: str, output_fields: Sequence[str], *, reason: str | None = None
) -> Request[JobId]:
    """Submit a job whose result are the storage units of a node."""
    query = {"storage_type": storage_type, "output_fields": ",".join(output_fields), "reason": reason}
    return submit("GET", path("/2/nodes/{}/storage", node), query)


def modify_node_storage_units(
    node: str, storage_type: str, name: str, *, allocatable: bool | None = None, reason: str | None = None
) -> Request[JobId]:
    """Change whether new disks may be made on a storage unit."""
    query = {
        "storage_type": storage_type,
        "name": name,
        "allocatable": None if allocatable is None else str(int(allocatable)),
        "reason": reason,
    }
    return submit("PUT", path("/2/nodes/{}/storage/modify", node), query)


def repair_node_storage_units(node: str, storage_type: str, name: str, *, reason: str | None = None) -> Request[JobId]:
    """Repair a storage unit."""
    query = {"storage_type": storage_type, "name": name, "reason": reason}
    return submit("PUT", path("/2/nodes/{}/storage/repair", node), query)
