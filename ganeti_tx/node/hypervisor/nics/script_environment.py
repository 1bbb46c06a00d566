"""What an administrator's own script is told of the interface that it connects (reference: network-scripts.json)."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.model.network import VARIABLES


def script_environment(spec: InstanceSpec, nic: NicSpec, number: int, tap: str) -> Mapping[str, str]:
    """What an administrator's script is told."""
    environment = {
        "INSTANCE": spec.name,
        "INTERFACE": tap,
        "MAC": nic.mac,
        "MODE": nic.mode,
        "LINK": nic.link,
        "TAGS": " ".join(spec.tags),
        "INTERFACE_INDEX": str(number),
        "INTERFACE_NAME": nic.name or "",
        "INTERFACE_UUID": nic.uuid,
    }
    environment |= {name: value for name, value in (("VLAN", nic.vlan), ("IP", nic.ip)) if value}
    if nic.mode == "bridged":
        environment["BRIDGE"] = nic.link
    return environment | network_environment(nic.netinfo)


def network_environment(netinfo: Mapping[str, Any] | None) -> dict[str, str]:
    """What it is told of the interface's network; NETWORK is there only if there is one (network script table)."""
    if netinfo is None:
        return {}
    known = {f"NETWORK_{key}": netinfo.get(name) for key, name in VARIABLES.items()}
    return {
        "NETWORK": netinfo["name"],
        "NETWORK_NAME": netinfo["name"],
        "NETWORK_UUID": netinfo["uuid"],
        "NETWORK_TAGS": " ".join(netinfo["tags"]),
        **{name: str(value) for name, value in known.items() if value},
    }
