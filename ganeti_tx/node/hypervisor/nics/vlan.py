"""VLANs of interfaces on bridges of the kernel."""

from ganeti_tx.errors import HypervisorError, ParameterError
from ganeti_tx.model import vlan as words
from ganeti_tx.model.vlan import Vlan


def parse_vlan(text: str) -> Vlan:
    """As `words` says. @raise HypervisorError: it is none."""
    try:
        return words.parse_vlan(text)
    except ParameterError as error:
        raise HypervisorError(str(error)) from None


def bridge_vlan_argvs(interface: str, vlan: Vlan, default: int) -> list[list[str]]:
    """For a bridge with VLAN filtering; its `default` VLAN is left, unless the interface is to be in it."""
    if vlan == Vlan():
        return []
    of = ["dev", interface, "vid"]
    left = [] if default in (0, vlan.untagged, *vlan.tagged) else [["bridge", "vlan", "del", *of, str(default)]]
    untagged = [] if vlan.untagged is None else [[*of, str(vlan.untagged), "pvid", "untagged"]]
    members = [*untagged, *([*of, str(vid)] for vid in vlan.tagged)]
    return [*left, *(["bridge", "vlan", "add", *each] for each in members)]
