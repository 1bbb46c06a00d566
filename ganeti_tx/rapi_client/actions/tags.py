"""Tags of the cluster, instances, nodes, groups and networks."""

from collections.abc import Sequence

from ganeti_tx.rapi_client.request import JobId, Method, Request, get, path, submit


def _change(method: Method, where: str, tags: Sequence[str], dry_run: bool, reason: str | None) -> Request[JobId]:
    return submit(method, where, {"tag": tags, "dry-run": dry_run, "reason": reason})


def get_cluster_tags() -> Request[list[str]]:
    """The cluster's tags."""
    return get("/2/tags", list[str])


def add_cluster_tags(tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None) -> Request[JobId]:
    """Add tags to the cluster."""
    return _change("PUT", "/2/tags", tags, dry_run, reason)


def delete_cluster_tags(tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None) -> Request[JobId]:
    """Remove tags from the cluster."""
    return _change("DELETE", "/2/tags", tags, dry_run, reason)


def get_instance_tags(instance: str) -> Request[list[str]]:
    """The tags of an instance."""
    return get(path("/2/instances/{}/tags", instance), list[str])


def add_instance_tags(
    instance: str, tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Add tags to an instance."""
    return _change("PUT", path("/2/instances/{}/tags", instance), tags, dry_run, reason)


def delete_instance_tags(
    instance: str, tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Remove tags from an instance."""
    return _change("DELETE", path("/2/instances/{}/tags", instance), tags, dry_run, reason)


def get_node_tags(node: str) -> Request[list[str]]:
    """The tags of a node."""
    return get(path("/2/nodes/{}/tags", node), list[str])


def add_node_tags(
    node: str, tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Add tags to a node."""
    return _change("PUT", path("/2/nodes/{}/tags", node), tags, dry_run, reason)


def delete_node_tags(
    node: str, tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Remove tags from a node."""
    return _change("DELETE", path("/2/nodes/{}/tags", node), tags, dry_run, reason)


def get_group_tags(group: str) -> Request[list[str]]:
    """The tags of a node group."""
    return get(path("/2/groups/{}/tags", group), list[str])


def add_group_tags(
    group: str, tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Add tags to a node group."""
    return _change("PUT", path("/2/groups/{}/tags", group), tags, dry_run, reason)


def delete_group_tags(
    group: str, tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Remove tags from a node group."""
    return _change("DELETE", path("/2/groups/{}/tags", group), tags, dry_run, reason)


def get_network_tags(network: str) -> Request[list[str]]:
    """The tags of a network."""
    return get(path("/2/networks/{}/tags", network), list[str])


def add_network_tags(
    network: str, tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Add tags to a network."""
    return _change("PUT", path("/2/networks/{}/tags", network), tags, dry_run, reason)


def delete_network_tags(
    network: str, tags: Sequence[str], *, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Remove tags from a network."""
    return _change("DELETE", path("/2/networks/{}/tags", network), tags, dry_run, reason)
