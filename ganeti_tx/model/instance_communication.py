"""The NIC by which an instance talks to its node, and to nobody else (Ganeti 3.0 network table, instance communication)."""

from typing import Final

from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.model.ip_address import parsed

#: The node's own address towards each of its guests, at which it tells them of themselves.
NODE_ADDRESS: Final = "169.254.169.254"
#: Where it does: HTTP there, and DHCP for a guest that does not know its own address yet.
METADATA_PORT: Final = 80
DHCP_PORT: Final = 67
#: How the node's ends of these NICs are called, whatever the hypervisor, so that a program can listen on them alone.
INTERFACE_PREFIX: Final = "gnt.com."
#: Link-local addresses: nothing of it leaves a node.
RANGE: Final = "169.254.0.0/16"
RANGE6: Final = "fe80::/10"
MAC_PREFIX: Final = "52:54:00"
#: How a node group is connected to the network of these NICs.
MODE: Final = NicMode.ROUTED
LINK: Final = "communication_rt"
PREFIX: Final = "ganeti:communication:"


def nic_name(instance: str) -> str:
    """By which it is known among the instance's NICs."""
    return f"{PREFIX}{instance}"


def is_communication(name: str | None, network: str | None, mode: object, cluster_network: str) -> bool:
    """Whether a NIC of this name in this network, which is connected so, is one."""
    in_it = bool(cluster_network) and network == cluster_network and mode == MODE
    return in_it and is_named_so(name)


def is_named_so(name: str | None) -> bool:
    """Whether a NIC has the name of one."""
    return (name or "").startswith(PREFIX)


def is_link_local(address: str) -> bool:
    """Whether it is in one of the ranges."""
    return parsed(address).is_link_local


def communication_nic(spec: InstanceSpec) -> NicSpec | None:
    """The instance's one. Its address is no other instance's in the cluster, and so tells which guest asks."""
    return next((nic for nic in spec.nics if nic.communication and nic.ip), None)
