"""The `vlan` of a network interface, and the commands that put a tap into it."""

from collections.abc import Sequence

from attrs import frozen

from ganeti_tx.errors import HypervisorError

MAX_VLAN = 4094


@frozen
class Vlan:
    """An untagged VLAN (or None) and tagged ones."""

    untagged: int | None = None
    tagged: Sequence[int] = ()


def parse_vlan(text: str) -> Vlan:
    """ ".5" is untagged, ":5:6" tagged, ".5:6" both, "5" untagged, empty none. @raise HypervisorError: none of these."""
    if not text:
        return Vlan()
    first, *tagged = text.split(":")
    try:
        untagged = _number(first.removeprefix(".")) if first else None
        return Vlan(untagged, tuple(_number(each) for each in tagged))
    except ValueError:
        raise HypervisorError(f"vlan {text!r} is not like .5, :5:6 or .5:6 with numbers from 1 to {MAX_VLAN}")


def bridge_vlan_argvs(tap: str, vlan: Vlan) -> list[list[str]]:
    """For a bridge of the kernel with VLAN filtering; the bridge's own default VLAN is left."""
    if vlan == Vlan():
        return []
    argvs = [["bridge", "vlan", "del", "dev", tap, "vid", "1"]]
    if vlan.untagged is not None:
        argvs.append(["bridge", "vlan", "add", "dev", tap, "vid", str(vlan.untagged), "pvid", "untagged"])
    return argvs + [["bridge", "vlan", "add", "dev", tap, "vid", str(vid)] for vid in vlan.tagged]


def openvswitch_argv(switch: str, tap: str, vlan: Vlan) -> list[str]:
    """For a port of Open vSwitch."""
    argv = ["ovs-vsctl", "--timeout=30", "--may-exist", "add-port", switch, tap]
    if vlan.untagged is not None:
        argv.append(f"tag={vlan.untagged}")
    if vlan.tagged:
        argv.append("trunks=" + ",".join(map(str, vlan.tagged)))
        argv.append("vlan_mode=" + ("native-untagged" if vlan.untagged is not None else "trunk"))
    return argv


def _number(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else 0
    if not 1 <= number <= MAX_VLAN:
        raise ValueError(text)
    return number
