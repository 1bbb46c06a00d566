"""Instances: their disks."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.rapi_client.request import JobId, Query, Request, given, path, submit


def activate_instance_disks(instance: str, *, ignore_size: bool = False, reason: str | None = None) -> Request[JobId]:
    """Make a stopped instance's disks usable on its node."""
    query = {"ignore_size": ignore_size, "reason": reason}
    return submit("PUT", path("/2/instances/{}/activate-disks", instance), query)


def deactivate_instance_disks(instance: str, *, force: bool = False, reason: str | None = None) -> Request[JobId]:
    """Take a stopped instance's disks out of use again."""
    query = {"force": force, "reason": reason}
    return submit("PUT", path("/2/instances/{}/deactivate-disks", instance), query)


def recreate_instance_disks(
    instance: str,
    *,
    disks: Sequence[Any] | None = None,
    nodes: Sequence[str] | None = None,
    iallocator: str | None = None,
    reason: str | None = None,
) -> Request[JobId]:
    """Make lost disks anew, empty; all without a list."""
    body = given(disks=disks, nodes=nodes, iallocator=iallocator)
    return submit("POST", path("/2/instances/{}/recreate-disks", instance), {"reason": reason}, body)


def grow_instance_disk(
    instance: str, disk: int, amount: int, *, wait_for_sync: bool | None = None, reason: str | None = None
) -> Request[JobId]:
    """Make a disk larger by so many mebibytes."""
    body = given(amount=amount, wait_for_sync=wait_for_sync)
    return submit("POST", path("/2/instances/{}/disk/{}/grow", instance, disk), {"reason": reason}, body)


def replace_instance_disks(
    instance: str,
    *,
    disks: Sequence[int] | None = None,
    mode: str = "replace_auto",
    remote_node: str | None = None,
    iallocator: str | None = None,
    early_release: bool | None = None,
    reason: str | None = None,
) -> Request[JobId]:
    """Replace disks of a mirrored instance; `mode` is replace_on_primary, _on_secondary, _new_secondary or _auto."""
    body = given(mode=mode, disks=disks, remote_node=remote_node, iallocator=iallocator, early_release=early_release)
    query: Query = {"reason": reason}
    return submit("POST", path("/2/instances/{}/replace-disks", instance), query, body)
