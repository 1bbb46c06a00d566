"""The network interfaces of a domain, as xl-network-configuration(5) has them."""

from collections.abc import Iterator

import msgspec

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.instance_spec import InstanceSpec, NicSpec
from ganeti_tx.node.hypervisor.nics.bridges import COMMAND_TIMEOUT, shown_bridge
from ganeti_tx.node.hypervisor.nics.names import check_mac
from ganeti_tx.node.hypervisor.nics.vlan import parse_vlan
from ganeti_tx.runtime.process import IProcessRunner

#: Xen's own scripts; what connects to a bridge is the default.
SCRIPTS = {"bridged": "", "openvswitch": "vif-openvswitch", "routed": "vif-route"}
OWN_SCRIPT = "set vif_script to the path of vif-ganeti"


async def check_nics(runner: IProcessRunner, spec: InstanceSpec, script: str) -> None:
    """@raise HypervisorError: one of them cannot be connected on this node; `script` is the administrator's own."""
    for nic in spec.nics:
        check_mac(nic.mac)
        parse_vlan(nic.vlan)
        if nic.communication and not script:
            raise HypervisorError(
                f"network interface {nic.mac}: Xen's own scripts know no interfaces for communication; {OWN_SCRIPT}"
            )
        if nic.mode == "routed" and not nic.ip:
            raise HypervisorError(f"network interface {nic.mac}: mode routed needs an IP address")
        if nic.mode == "bridged" and nic.vlan and not script:
            raise HypervisorError(
                f"network interface {nic.mac}: Xen's own script knows no VLANs of bridges; {OWN_SCRIPT}, or use"
                " mode openvswitch"
            )
        if nic.mode == "bridged" and not await shown_bridge(runner, nic.link):
            raise HypervisorError(
                f"network interface {nic.mac}: bridge {nic.link} is not on this node; create it, or choose another link"
            )


def vif_entries(spec: InstanceSpec, script: str, words: str = "") -> Iterator[str]:
    """An entry for each interface; `words` are the model's, as `type=ioemu,model=e1000`."""
    for nic in spec.nics:
        yield ",".join(
            part for part in (f"mac={nic.mac}", _address(nic), _link(nic), _script(nic, script), words) if part
        )


def _address(nic: NicSpec) -> str:
    return f"ip={nic.ip}" if nic.ip else ""


def _link(nic: NicSpec) -> str:
    """A switch's script takes VLANs from behind the switch's name."""
    if nic.mode == "openvswitch":
        return f"bridge={nic.link}{nic.vlan}"
    return f"bridge={nic.link}" if nic.mode == "bridged" else ""


def _script(nic: NicSpec, script: str) -> str:
    chosen = script or SCRIPTS.get(nic.mode, "")
    return f"script={chosen}" if chosen else ""


class _Route(msgspec.Struct):
    """As the program ip tells of one."""

    dev: str = ""


async def vif_of(runner: IProcessRunner, nic: NicSpec, domain: int, number: str) -> str | None:
    """Of the domain's two for this interface, the second of which has an emulated card, the one by which its address is reached.

    A route by anybody else's is none.
    """
    argv = ["ip", "-json", "route", "show", "table", "main", "exact", f"{nic.ip}/32"]
    result = await runner.run(argv, timeout=COMMAND_TIMEOUT)
    try:
        routes = msgspec.json.decode(result.stdout or b"[]", type=list[_Route]) if result.succeeded else []
    except msgspec.DecodeError:
        return None
    own = f"vif{domain}.{number}"
    return next((route.dev for route in routes if route.dev in (own, f"{own}-emu")), None)
