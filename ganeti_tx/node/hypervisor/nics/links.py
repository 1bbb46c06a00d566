"""Whether a node has what interfaces are plugged into, and what that is like."""

import re

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.enums import NicMode
from ganeti_tx.model.nic_link import NicLink
from ganeti_tx.model.vlan import Vlan
from ganeti_tx.node.hypervisor.nics.bridges import (
    COMMAND_TIMEOUT,
    check_interface,
    keeps_vlans_apart,
    run,
    shown_bridge,
)
from ganeti_tx.node.hypervisor.nics.switches import ovs_argv
from ganeti_tx.node.hypervisor.nics.vlan import parse_vlan
from ganeti_tx.runtime.process import NOT_FOUND, IProcessRunner

MODES = (NicMode.BRIDGED, NicMode.OPENVSWITCH, NicMode.ROUTED)
NO_OPEN_VSWITCH = "Open vSwitch is not on this node; install openvswitch-switch"
#: The status by which ovs-vsctl(8) says that there is none.
NO_SUCH_SWITCH = 2
_TABLE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,63}")


async def check_link(runner: IProcessRunner, wanted: NicLink) -> None:
    """@raise HypervisorError: nothing can be plugged in there on this node, and what to do about it."""
    vlan = parse_vlan(wanted.vlan)
    if wanted.mode == NicMode.BRIDGED:
        await _check_bridge(runner, wanted.link, vlan)
    elif wanted.mode == NicMode.OPENVSWITCH:
        await _check_switch(runner, wanted.link)
    elif wanted.mode == NicMode.ROUTED:
        await _check_table(runner, wanted.link)
    else:
        raise HypervisorError(f"network mode {wanted.mode!r} is none of {', '.join(MODES)}")


async def _check_bridge(runner: IProcessRunner, link: str, vlan: Vlan) -> None:
    shown = await shown_bridge(runner, link)
    if not shown:
        raise HypervisorError(f"bridge {link} is not on this node; create it, or choose another link")
    if vlan != Vlan() and not keeps_vlans_apart(shown):
        raise HypervisorError(
            f"bridge {link} does not keep VLANs apart on this node; 'ip link set dev {link} type bridge vlan_filtering 1'"
            " has it do so"
        )


async def _check_switch(runner: IProcessRunner, link: str) -> None:
    check_interface("switch", link)
    result = await runner.run(ovs_argv("br-exists", link), timeout=COMMAND_TIMEOUT)
    if result.status == NOT_FOUND:
        raise HypervisorError(NO_OPEN_VSWITCH)
    if result.status == NO_SUCH_SWITCH:
        raise HypervisorError(
            f"switch {link} is not on this node; 'ovs-vsctl add-br {link}' makes it, or choose another link"
        )
    if not result.succeeded:
        raise HypervisorError(f"Open vSwitch does not tell whether there is a switch {link}: {result.describe()}")


async def _check_table(runner: IProcessRunner, link: str) -> None:
    """An empty one is the main table."""
    if link and _TABLE.fullmatch(link) is None:
        raise HypervisorError(f"not the name or number of a routing table: {link!r}")
    if link and not (await run(runner, "ip", "rule", "show", "table", link)).succeeded:
        raise HypervisorError(
            f"routing table {link} is not known on this node; name it in /etc/iproute2/rt_tables, or choose another link,"
            " such as a number, or main"
        )
