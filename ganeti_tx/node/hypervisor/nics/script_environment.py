"""What scripts are told of the interface that they connect (Ganeti 3.0 network table); it is what nodes remember, too."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.model.network import VARIABLES
from ganeti_tx.model.nic_link import NicLink

#: What is not told when an interface goes: it may have changed since.
NOT_KEPT = "TAGS"
YES = "yes"


def script_environment(spec: InstanceSpec, nic: NicSpec, number: int, interface: str) -> Mapping[str, str]:
    """Of the node's end that is called so."""
    environment = {
        "INSTANCE": spec.name,
        "INTERFACE": interface,
        "MAC": nic.mac,
        "MODE": nic.mode,
        "LINK": nic.link,
        NOT_KEPT: " ".join(spec.tags),
        "INTERFACE_INDEX": str(number),
        "INTERFACE_NAME": nic.name or "",
        "INTERFACE_UUID": nic.uuid,
    }
    environment |= {name: value for name, value in (("VLAN", nic.vlan), ("IP", nic.ip)) if value}
    if nic.mode == NicMode.BRIDGED:
        environment["BRIDGE"] = nic.link
    if nic.communication:
        environment["COMMUNICATION"] = YES
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


@frozen
class NodeEnd:
    """The node's end of an interface, by what scripts are told of it."""

    environment: Mapping[str, str]

    @property
    def interface(self) -> str:
        """What it is called."""
        return self.environment["INTERFACE"]

    @property
    def link(self) -> NicLink:
        """Where it is plugged in."""
        told = self.environment
        return NicLink(mode=told["MODE"], link=told.get("LINK", ""), vlan=told.get("VLAN", ""))

    @property
    def ip(self) -> str:
        """The guest's address; empty when it is nobody's business."""
        return self.environment.get("IP", "")

    @property
    def gateway6(self) -> str:
        """The router that a guest with IPv6 asks for; empty when none is known."""
        return self.environment.get("NETWORK_GATEWAY6", "")

    @property
    def communication(self) -> bool:
        """Whether the instance talks to its node over it, and to nobody else."""
        return self.environment.get("COMMUNICATION") == YES
