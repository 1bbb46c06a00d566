"""The commands that plug the node's end of an interface into a bridge or a switch."""

from ganeti_tx.node.hypervisor.nics.bridges import default_vlan_of, mtu_of
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd
from ganeti_tx.node.hypervisor.nics.switches import plug_argv
from ganeti_tx.node.hypervisor.nics.vlan import bridge_vlan_argvs, parse_vlan


def up_argv(interface: str) -> list[str]:
    """What lets packets pass."""
    return ["ip", "link", "set", "dev", interface, "up"]


def bridge_argvs(end: NodeEnd, shown: str) -> list[list[str]]:
    """Onto a bridge, of which the program ip shows this.

    It takes the least of its ports' sizes, so that a port with less than it has would keep large packets from all others.
    """
    name, size = end.interface, mtu_of(shown)
    resize = [["ip", "link", "set", "dev", name, "mtu", str(size)]] if size else []
    member = bridge_vlan_argvs(name, parse_vlan(end.link.vlan), default_vlan_of(shown))
    return [*resize, ["ip", "link", "set", "dev", name, "master", end.link.link], *member, up_argv(name)]


def switch_argvs(end: NodeEnd) -> list[list[str]]:
    """Onto a switch."""
    return [plug_argv(end.link.link, end.interface, parse_vlan(end.link.vlan)), up_argv(end.interface)]
