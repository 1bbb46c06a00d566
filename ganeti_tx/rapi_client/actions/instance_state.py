"""Instances: starting, stopping, moving and exporting them."""

from typing import Any

from ganeti_tx.rapi_client.request import JobId, Query, Request, given, path, submit


def startup_instance(
    instance: str, *, force: bool = False, dry_run: bool = False, no_remember: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Start an instance; `no_remember` leaves the recorded state as it is."""
    query = {"force": force, "dry-run": dry_run, "no_remember": no_remember, "reason": reason}
    return submit("PUT", path("/2/instances/{}/startup", instance), query)


def shutdown_instance(
    instance: str, *, dry_run: bool = False, no_remember: bool = False, reason: str | None = None, **parameters: Any
) -> Request[JobId]:
    """Stop an instance: the parameters of OP_INSTANCE_SHUTDOWN, such as `timeout` in seconds."""
    query = {"dry-run": dry_run, "no_remember": no_remember, "reason": reason}
    return submit("PUT", path("/2/instances/{}/shutdown", instance), query, parameters)


def reboot_instance(
    instance: str,
    *,
    reboot_type: str | None = None,
    ignore_secondaries: bool | None = None,
    dry_run: bool = False,
    reason: str | None = None,
    **parameters: Any,
) -> Request[JobId]:
    """Restart an instance; `reboot_type` is "soft", "hard" or "full"."""
    query: Query = {
        "dry-run": dry_run,
        "type": reboot_type,
        "ignore_secondaries": None if ignore_secondaries is None else str(int(ignore_secondaries)),
        "reason": reason,
    }
    return submit("POST", path("/2/instances/{}/reboot", instance), query, parameters)


def migrate_instance(
    instance: str,
    *,
    mode: str | None = None,
    cleanup: bool | None = None,
    target_node: str | None = None,
    secondary_node: str | None = None,
    copy_disks: bool | None = None,
    reason: str | None = None,
) -> Request[JobId]:
    """Move a running instance to another node; `mode` is "live" or "non-live".

    @param secondary_node: the primary node of a mirrored instance that goes to a node without a copy.
    @param copy_disks: whether disks that only its node has go along to the target node.
    """
    body = given(
        mode=mode, cleanup=cleanup, target_node=target_node, secondary_node=secondary_node, copy_disks=copy_disks
    )
    return submit("PUT", path("/2/instances/{}/migrate", instance), {"reason": reason}, body)


def failover_instance(
    instance: str,
    *,
    iallocator: str | None = None,
    ignore_consistency: bool | None = None,
    target_node: str | None = None,
    secondary_node: str | None = None,
    wait_for_sync: bool | None = None,
    reason: str | None = None,
) -> Request[JobId]:
    """Stop an instance and start it on another node.

    @param secondary_node: which node of a mirrored instance keeps its copy, if it goes to a node without one.
    @param wait_for_sync: whether it is started there only when that node has all the data.
    """
    body = given(
        iallocator=iallocator,
        ignore_consistency=ignore_consistency,
        target_node=target_node,
        secondary_node=secondary_node,
        wait_for_sync=wait_for_sync,
    )
    return submit("PUT", path("/2/instances/{}/failover", instance), {"reason": reason}, body)


def prepare_export(instance: str, mode: str, *, reason: str | None = None) -> Request[JobId]:
    """Submit a job whose result an export to another cluster needs; `mode` is "local" or "remote"."""
    return submit("PUT", path("/2/instances/{}/prepare-export", instance), {"mode": mode, "reason": reason})


def export_instance(
    instance: str,
    mode: str,
    destination: Any,
    *,
    shutdown: bool | None = None,
    remove_instance: bool | None = None,
    x509_key_name: Any = None,
    destination_x509_ca: str | None = None,
    compress: str | None = None,
    long_sleep: bool | None = None,
    reason: str | None = None,
) -> Request[JobId]:
    """Copy an instance's disks out: to a node (`mode` "local") or to another cluster ("remote").

    @param long_sleep: whether one that is not removed is down for all that time.
    """
    body = given(
        mode=mode,
        destination=destination,
        shutdown=shutdown,
        remove_instance=remove_instance,
        x509_key_name=x509_key_name,
        destination_x509_ca=destination_x509_ca,
        compress=compress,
        long_sleep=long_sleep,
    )
    return submit("PUT", path("/2/instances/{}/export", instance), {"reason": reason}, body)
