"""The commands that connect the node's end of an interface to a bridge, a switch or a route."""

import re
from socket import AF_INET6

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import NicSpec
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.node.hypervisor.nics.vlan import bridge_vlan_argvs, openvswitch_argv, parse_vlan

_MTU = re.compile(r"\bmtu (\d{1,9})\b")


def mtu_of(shown: str) -> int | None:
    """The largest packet of an interface, in what the program ip shows of it."""
    found = _MTU.search(shown)
    return int(found[1]) if found else None


def connect_argvs(nic: NicSpec, tap: str, mtu: int | None = None) -> list[list[str]]:
    """The commands that connect a tap as the interface's mode says. @raise HypervisorError: a routed one without IP."""
    vlan = parse_vlan(nic.vlan)
    up = ["ip", "link", "set", "dev", tap, "up"]
    if nic.mode == "bridged":
        # A bridge takes the least of its ports' sizes, so that a tap with less would keep large packets from all others.
        resize = [["ip", "link", "set", "dev", tap, "mtu", str(mtu)]] if mtu else []
        return [*resize, ["ip", "link", "set", "dev", tap, "master", nic.link], *bridge_vlan_argvs(tap, vlan), up]
    if nic.mode == "openvswitch":
        return [openvswitch_argv(nic.link, tap, vlan), up]
    if not nic.ip:
        raise HypervisorError(f"network interface {nic.mac}: mode routed needs an IP address")
    family, knob = ("ipv6", "proxy_ndp") if family_of(nic.ip) == AF_INET6 else ("ipv4", "proxy_arp")
    route = ["ip", "route", "replace", nic.ip, "dev", tap]
    return [
        up,
        ["sysctl", "-qw", f"net.{family}.conf.{tap}.forwarding=1", f"net.{family}.conf.{tap}.{knob}=1"],
        [*route, "table", nic.link] if nic.link else route,
    ]
