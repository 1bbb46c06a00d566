"""What cloud-init's source "NoCloud" reads from a server: names, keys and network interfaces. JSON is YAML."""

from typing import Any

from ganeti_tx.metad.user_data import ssh_keys
from ganeti_tx.model.guest_facts import GuestFacts, GuestNic

#: Of the whole communication network: its guests reach their nodes' address without a route.
_TO_NODE = "/16"


def meta_data(facts: GuestFacts) -> dict[str, Any]:
    """Who it is, and who may log in."""
    return {"instance-id": facts.uuid, "local-hostname": facts.name, "public-keys": ssh_keys(facts)}


def network_config(facts: GuestFacts) -> dict[str, Any]:
    """Version 2: each interface by its MAC address."""
    return {"version": 2, "ethernets": {f"nic{number}": interface(nic) for number, nic in enumerate(facts.nics)}}


def interface(nic: GuestNic) -> dict[str, Any]:
    """With its address if that and its network are known; otherwise somebody there tells it."""
    found: dict[str, Any] = {"match": {"macaddress": nic.mac.lower()}}
    if nic.to_node:
        return {**found, "addresses": [f"{nic.ip}{_TO_NODE}"], "optional": True}
    if not nic.ip or not nic.subnet:
        return {**found, "dhcp4": True}
    found["addresses"] = [f"{nic.ip}/{nic.subnet.partition('/')[2]}"]
    return {**found, "routes": [{"to": "0.0.0.0/0", "via": nic.gateway}]} if nic.gateway else found
