"""Networks."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.rapi_client.actions.listing import names
from ganeti_tx.rapi_client.records.network import Network
from ganeti_tx.rapi_client.request import JobId, Request, get, given, path, submit


def get_networks() -> Request[list[str]]:
    """The networks' names."""
    return names("/2/networks", "name")


def get_networks_bulk() -> Request[list[Network]]:
    """All networks in full."""
    return get("/2/networks", list[Network], {"bulk": True})


def get_network(network: str) -> Request[Network]:
    """One network."""
    return get(path("/2/networks/{}", network), Network)


def create_network(
    network_name: str,
    network: str,
    *,
    gateway: str | None = None,
    network6: str | None = None,
    gateway6: str | None = None,
    mac_prefix: str | None = None,
    add_reserved_ips: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    dry_run: bool = False,
    reason: str | None = None,
) -> Request[JobId]:
    """Make a network of an IPv4 range, and perhaps an IPv6 range."""
    body = given(
        network_name=network_name,
        network=network,
        gateway=gateway,
        network6=network6,
        gateway6=gateway6,
        mac_prefix=mac_prefix,
        add_reserved_ips=add_reserved_ips,
        tags=tags,
    )
    return submit("POST", "/2/networks", {"dry-run": dry_run, "reason": reason}, body)


def modify_network(network: str, *, reason: str | None = None, **parameters: Any) -> Request[JobId]:
    """Change a network: the parameters of OP_NETWORK_SET_PARAMS."""
    return submit("PUT", path("/2/networks/{}/modify", network), {"reason": reason}, parameters)


def rename_network(network: str, new_name: str, *, dry_run: bool = False, reason: str | None = None) -> Request[JobId]:
    """Give a network another name."""
    query = {"dry-run": dry_run, "reason": reason}
    return submit("PUT", path("/2/networks/{}/rename", network), query, {"new_name": new_name})


def connect_network(
    network_name: str,
    group_name: str,
    mode: str,
    link: str,
    *,
    vlan: str = "",
    dry_run: bool = False,
    reason: str | None = None,
) -> Request[JobId]:
    """Make a network usable in a node group; `mode` is "bridged", "routed" or "openvswitch"."""
    body = {"group_name": group_name, "network_mode": mode, "network_link": link, "network_vlan": vlan}
    query = {"dry-run": dry_run, "reason": reason}
    return submit("PUT", path("/2/networks/{}/connect", network_name), query, body)


def disconnect_network(
    network_name: str, group_name: str, *, dry_run: bool = False, reason: str | None = None
) -> Request[JobId]:
    """Take a network out of a node group."""
    query = {"dry-run": dry_run, "reason": reason}
    return submit("PUT", path("/2/networks/{}/disconnect", network_name), query, {"group_name": group_name})


def delete_network(network: str, *, dry_run: bool = False, reason: str | None = None) -> Request[JobId]:
    """Remove a network that no group has."""
    return submit("DELETE", path("/2/networks/{}", network), {"dry-run": dry_run, "reason": reason})
