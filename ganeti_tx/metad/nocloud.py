"""What cloud-init's source "NoCloud" reads from a server: names, keys and network interfaces. JSON is YAML."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ganeti_tx.metad.user_data import ssh_keys
from ganeti_tx.model.guest_facts import GuestFacts, GuestNic

#: Of the whole communication network: its guests reach their nodes' address without a route.
_TO_NODE = "/16"


def meta_data(facts: GuestFacts) -> dict[str, Any]:
    """Who it is, and who may log in; and its interfaces in the way that is read by who asks for no `network_config`."""
    return {
        "instance-id": facts.uuid,
        "local-hostname": facts.name,
        "public-keys": ssh_keys(facts),
        "network-interfaces": "\n".join(["auto lo", "iface lo inet loopback", *stanzas(facts.nics)]) + "\n",
    }


def stanzas(nics: Sequence[GuestNic]) -> Iterator[str]:
    """As in Debian's /etc/network/interfaces. Each gets the name of its number, by its MAC address."""
    for number, nic in enumerate(nics):
        known = interface(nic)
        (address,) = known.get("addresses", [None])
        yield f"auto eth{number}"
        yield f"iface eth{number} inet {'dhcp' if address is None else 'static'}"
        yield f"    hwaddress ether {nic.mac.lower()}"
        yield from (f"    {name} {value}" for name, value in (("address", address), *ways(known)) if value)


def ways(known: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The way out."""
    return [("gateway", route["via"]) for route in known.get("routes", [])]


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
