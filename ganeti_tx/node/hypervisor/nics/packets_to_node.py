"""Which packets a node takes from a guest that talks to it and to nobody else, as a program for the kernel (tc-bpf(8)).

It stands at the interface itself, before any table of routes: what is for one of the node's own addresses no rule keeps away. It
goes with the interface, and no reload of the node's firewall takes it away. A packet that is too short for a look at it passes,
as the kernel has it, and is dropped where it is received.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from ipaddress import IPv4Address
from socket import IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP
from typing import Final

from attrs import frozen

from ganeti_tx.model.instance_communication import DHCP_PORT, METADATA_PORT, NODE_ADDRESS


class Do(IntEnum):
    """Instructions (linux/filter.h)."""

    LOAD_BYTE = 0x30
    LOAD_HALF = 0x28
    LOAD_WORD = 0x20
    IF_EQUAL = 0x15
    IF_ANY_BIT = 0x45
    RETURN = 0x06


@frozen
class Step:
    """One instruction.

    @ivar then, otherwise: at which step a comparison goes on; '': at the next one. @ivar name: by which others lead here.
    """

    do: Do
    value: int
    then: str = ""
    otherwise: str = ""
    name: str = ""


#: Verdicts (linux/pkt_cls.h).
TAKE, DROP = 0, 2
#: Where things are in an Ethernet frame with an IPv4 header that has no options.
KIND, HEADER, FRAGMENT, PROTOCOL, DESTINATION, PORT = 12, 14, 20, 23, 30, 36
ARP, IPV4 = 0x0806, 0x0800
#: Of a header: the version, and that it has no options, by which a packet could say where else it goes.
PLAIN_HEADER: Final = 0x45
#: That more of a packet follows, or where in it this piece belongs: such have no port.
IN_PIECES: Final = 0x3FFF
EVERYBODY: Final = int(IPv4Address("255.255.255.255"))

#: ARP; HTTP, DHCP and ICMP for the one address; DHCP for everybody, from who has no address yet. Nothing else, and no IPv6.
PROGRAM: Sequence[Step] = (
    Step(Do.LOAD_HALF, KIND),
    Step(Do.IF_EQUAL, ARP, then="take"),
    Step(Do.IF_EQUAL, IPV4, otherwise="drop"),
    Step(Do.LOAD_BYTE, HEADER),
    Step(Do.IF_EQUAL, PLAIN_HEADER, otherwise="drop"),
    Step(Do.LOAD_HALF, FRAGMENT),
    Step(Do.IF_ANY_BIT, IN_PIECES, then="drop"),
    Step(Do.LOAD_WORD, DESTINATION),
    Step(Do.IF_EQUAL, int(IPv4Address(NODE_ADDRESS)), otherwise="everybody"),
    Step(Do.LOAD_BYTE, PROTOCOL),
    Step(Do.IF_EQUAL, IPPROTO_ICMP, then="take"),
    Step(Do.IF_EQUAL, IPPROTO_TCP, otherwise="datagram"),
    Step(Do.LOAD_HALF, PORT),
    Step(Do.IF_EQUAL, METADATA_PORT, then="take", otherwise="drop"),
    Step(Do.IF_EQUAL, EVERYBODY, otherwise="drop", name="everybody"),
    Step(Do.LOAD_BYTE, PROTOCOL),
    Step(Do.IF_EQUAL, IPPROTO_UDP, otherwise="drop", name="datagram"),
    Step(Do.LOAD_HALF, PORT),
    Step(Do.IF_EQUAL, DHCP_PORT, then="take", otherwise="drop"),
    Step(Do.RETURN, DROP, name="drop"),
    Step(Do.RETURN, TAKE, name="take"),
)


def filter_argvs(interface: str) -> list[list[str]]:
    """What has an interface take no others; it may be run twice."""
    where = ["dev", interface, "ingress", "protocol", "all", "pref", "1", "handle", "1"]
    return [
        ["tc", "qdisc", "replace", "dev", interface, "clsact"],
        ["tc", "filter", "replace", *where, "bpf", "direct-action", "bytecode", bytecode(PROGRAM)],
    ]


def bytecode(program: Sequence[Step]) -> str:
    """As tc reads it: how many there are, and each with its jumps, which are counted from the next one."""
    places = {step.name: place for place, step in enumerate(program) if step.name}
    steps = [
        f"{step.do:d} {_jump(places, place, step.then)} {_jump(places, place, step.otherwise)} {step.value}"
        for place, step in enumerate(program)
    ]
    return ",".join([str(len(program)), *steps])


def _jump(places: Mapping[str, int], place: int, to: str) -> int:
    return places[to] - place - 1 if to else 0
