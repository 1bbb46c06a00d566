"""Node groups."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.rapi_client.actions.listing import names
from ganeti_tx.rapi_client.records.group import Group
from ganeti_tx.rapi_client.request import JobId, Request, get, given, path, submit


def get_groups() -> Request[list[str]]:
    """The groups' names."""
    return names("/2/groups", "name")


def get_groups_bulk() -> Request[list[Group]]:
    """All groups in full."""
    return get("/2/groups", list[Group], {"bulk": True})


def get_group(group: str) -> Request[Group]:
    """One group."""
    return get(path("/2/groups/{}", group), Group)


def create_group(
    name: str, *, alloc_policy: str | None = None, dry_run: bool = False, reason: str | None = None, **parameters: Any
) -> Request[JobId]:
    """Make a group: the parameters of OP_GROUP_ADD."""
    body = given(name=name, alloc_policy=alloc_policy) | parameters
    return submit("POST", "/2/groups", {"dry-run": dry_run, "reason": reason}, body)


def modify_group(group: str, *, reason: str | None = None, **parameters: Any) -> Request[JobId]:
    """Change a group: the parameters of OP_GROUP_SET_PARAMS."""
    return submit("PUT", path("/2/groups/{}/modify", group), {"reason": reason}, parameters)


def rename_group(group: str, new_name: str, *, dry_run: bool = False, reason: str | None = None) -> Request[JobId]:
    """Give a group another name."""
    query = {"dry-run": dry_run, "reason": reason}
    return submit("PUT", path("/2/groups/{}/rename", group), query, {"new_name": new_name})


def assign_group_nodes(
    group: str, nodes: Sequence[str], *, force: bool = False, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Put nodes into a group; `force` even if that splits an instance between groups."""
    query = {"force": force, "dry-run": dry_run, "reason": reason}
    return submit("PUT", path("/2/groups/{}/assign-nodes", group), query, {"nodes": list(nodes)})


def delete_group(group: str, *, dry_run: bool = False, reason: str | None = None) -> Request[JobId]:
    """Remove a group without nodes."""
    return submit("DELETE", path("/2/groups/{}", group), {"dry-run": dry_run, "reason": reason})
