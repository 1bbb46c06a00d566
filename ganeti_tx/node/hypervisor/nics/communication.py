"""The commands for the interface by which an instance talks to its node, and to nobody else."""

from collections.abc import Sequence

from ganeti_tx.model.instance_communication import NODE_ADDRESS
from ganeti_tx.node.hypervisor.nics.packets_to_node import filter_argvs
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd

#: Settings of the kernel: it passes nothing on from there, answers for nobody else, and takes nothing with another's address.
#: The first is undone when somebody has the node forward in general; the rule for it is not.
IPV4_SETTINGS = ("forwarding=0", "proxy_arp=0", "rp_filter=1")


def communication_argvs(end: NodeEnd) -> list[list[str]]:
    """What connects it, first of all what it takes. The route is in the main table, where the node's own answers look for it.

    Its address there is none by which the node speaks to others.
    """
    name = end.interface
    return [
        *filter_argvs(name),
        ["ip", "link", "set", "dev", name, "up"],
        ["ip", "-4", "address", "replace", f"{NODE_ADDRESS}/32", "dev", name, "scope", "link"],
        ["sysctl", "-qw", *(f"net/ipv4/conf/{name}/{setting}" for setting in IPV4_SETTINGS)],
        ["sysctl", "-eqw", f"net/ipv6/conf/{name}/disable_ipv6=1"],  # which a kernel may not have
        ["ip", "-4", "rule", "add", "iif", name, "prohibit"],
        ["ip", "-4", "route", "replace", end.ip, "dev", name, "src", NODE_ADDRESS],
    ]


def checksum_argv(end: NodeEnd) -> Sequence[str]:
    """Older DHCP clients refuse packets whose checksum was left to hardware that is not there."""
    return ["ethtool", "-K", end.interface, "tx", "off"]
