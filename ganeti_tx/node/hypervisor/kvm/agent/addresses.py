"""The addresses that a guest says it has: what its agent answers is read, cut to size, and made fit to be shown."""

import re
from collections.abc import Iterator
from typing import Any

from ganeti_tx.model.guest_interface import GuestInterface, GuestInterfaces
from ganeti_tx.model.ip_address import parsed
from ganeti_tx.node.hypervisor.kvm.agent.talk import AgentSilent

COMMAND = "guest-network-get-interfaces"
#: Of what a guest tells, so much is shown.
MAX_INTERFACES, MAX_ADDRESSES, MAX_NAME, LONGEST_ADDRESS = 8, 8, 32, 45
#: And so much is looked at.
LOOKED_AT, ADDRESSES_LOOKED_AT = 256, 32
MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


def guest_interfaces(answer: Any) -> GuestInterfaces:
    """What an agent has answered. @raise AgentSilent: it is no list."""
    if not isinstance(answer, list):
        raise AgentSilent(f"its agent does not answer {COMMAND} with a list")
    shown: list[GuestInterface] = []
    left_out = max(0, len(answer) - LOOKED_AT)
    for each in answer[:LOOKED_AT]:
        if not isinstance(each, dict) or not isinstance(name := each.get("name"), str):
            continue
        addresses = list(_addresses(each.get("ip-addresses")))
        if not addresses:
            continue
        if len(shown) == MAX_INTERFACES:
            left_out += 1
            continue
        left_out += max(0, len(addresses) - MAX_ADDRESSES)
        shown.append(GuestInterface(name=shown_name(name), mac=_mac(each), addresses=addresses[:MAX_ADDRESSES]))
    return GuestInterfaces(interfaces=shown, left_out=left_out)


def shown_name(name: str) -> str:
    """A name of which nothing commands a terminal."""
    return "".join(each if each.isprintable() else "?" for each in name[:MAX_NAME])


def _addresses(told: Any) -> Iterator[str]:
    for each in told[:ADDRESSES_LOOKED_AT] if isinstance(told, list) else ():
        text = each.get("ip-address") if isinstance(each, dict) else None
        if not isinstance(text, str) or len(text) > LONGEST_ADDRESS:
            continue
        try:
            address = parsed(text)
        except ValueError:
            continue
        if not (address.is_loopback or address.is_link_local or address.is_unspecified):
            yield str(address)


def _mac(interface: dict[str, Any]) -> str:
    told = interface.get("hardware-address")
    return mac if isinstance(told, str) and MAC.fullmatch(mac := told.lower()) else ""
