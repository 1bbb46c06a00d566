"""The commands that put the tap of a network interface into its VLANs."""

from ganeti_tx.errors import HypervisorError, ParameterError
from ganeti_tx.model import vlan as words
from ganeti_tx.model.vlan import Vlan


def parse_vlan(text: str) -> Vlan:
    """As `words` says. @raise HypervisorError: it is none."""
    try:
        return words.parse_vlan(text)
    except ParameterError as error:
        raise HypervisorError(str(error)) from None


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
