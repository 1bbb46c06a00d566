"""Which packets of a guest its node takes: the program as tc is given it, run on frames."""

import struct
from ipaddress import IPv4Address
from socket import IPPROTO_ICMP, IPPROTO_TCP, IPPROTO_UDP

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.instance_communication import NODE_ADDRESS
from ganeti_tx.node.hypervisor.nics.communication import communication_argvs
from ganeti_tx.node.hypervisor.nics.packets_to_node import ARP, DROP, IPV4, PROGRAM, TAKE, Do, bytecode
from ganeti_tx.node.hypervisor.nics.script_environment import NodeEnd

EVERYBODY, OTHER = "255.255.255.255", "192.0.2.1"
FORMS = {Do.LOAD_BYTE: "!B", Do.LOAD_HALF: "!H", Do.LOAD_WORD: "!I"}
#: What the kernel answers for a program that reads beyond a packet's end: here, that it passes.
SHORT = 0


def verdict(frame: bytes, program: str = bytecode(PROGRAM)) -> int:
    """As the kernel runs it (linux/filter.h)."""
    count, *words = program.split(",")
    steps = [tuple(map(int, each.split())) for each in words]
    assert len(steps) == int(count), program
    place = loaded = 0
    while True:
        do, then, otherwise, value = steps[place]
        place += 1
        if do == Do.RETURN:
            return value
        if do in FORMS:
            form = FORMS[Do(do)]
            if value + struct.calcsize(form) > len(frame):
                return SHORT
            (loaded,) = struct.unpack_from(form, frame, value)
        else:
            holds = loaded == value if do == Do.IF_EQUAL else bool(loaded & value)
            place += then if holds else otherwise


def ethernet(kind: int, content: bytes) -> bytes:
    """A frame; whom it is for does not count."""
    return bytes(12) + struct.pack("!H", kind) + content


def ipv4(protocol: int, to: str = NODE_ADDRESS, port: int = 0, pieces: int = 0, first: int = 0x45) -> bytes:
    """A packet with a header of five words and more, as `first` says, to a port."""
    options = bytes(4 * ((first & 15) - 5))
    source, target = IPv4Address("169.254.3.1").packed, IPv4Address(to).packed
    header = struct.pack("!BBHHHBBH", first, 0, 40 + len(options), 1, pieces, 64, protocol, 0) + source + target
    return ethernet(IPV4, header + options + struct.pack("!HH", 40000, port) + bytes(16))


TAKEN = {
    "ARP": ethernet(ARP, bytes(28)),
    "HTTP": ipv4(IPPROTO_TCP, port=80),
    "HTTP that must not be cut": ipv4(IPPROTO_TCP, port=80, pieces=0x4000),
    "ICMP": ipv4(IPPROTO_ICMP),
    "DHCP": ipv4(IPPROTO_UDP, port=67),
    "DHCP for everybody": ipv4(IPPROTO_UDP, EVERYBODY, port=67),
}
DROPPED = {
    "first of some pieces": ipv4(IPPROTO_TCP, port=80, pieces=0x2000),
    "last of some pieces": ipv4(IPPROTO_TCP, port=80, pieces=1),
    "options": ipv4(IPPROTO_TCP, port=80, first=0x46),
    "IPv6": ethernet(0x86DD, bytes(40)),
    "VLAN": ethernet(0x8100, bytes(2) + ipv4(IPPROTO_TCP, port=80)[12:]),
    "TCP to the port for DHCP": ipv4(IPPROTO_TCP, port=67),
    "UDP to the port for HTTP": ipv4(IPPROTO_UDP, port=80),
    "SSH": ipv4(IPPROTO_TCP, port=22),
    "another protocol": ipv4(47, port=80),
    "another address": ipv4(IPPROTO_TCP, OTHER, port=80),
    "ICMP for another address": ipv4(IPPROTO_ICMP, OTHER),
    "DHCP for another address": ipv4(IPPROTO_UDP, OTHER, port=67),
    "ICMP for everybody": ipv4(IPPROTO_ICMP, EVERYBODY),
    "HTTP for everybody": ipv4(IPPROTO_TCP, EVERYBODY, port=80),
}


class ProgramTests(SynchronousTestCase):
    """Frames of a guest."""

    def test_taken(self) -> None:
        """What tells a guest of itself."""
        self.assertEqual({name: verdict(frame) for name, frame in TAKEN.items()}, dict.fromkeys(TAKEN, TAKE))

    def test_dropped(self) -> None:
        """Nothing else."""
        self.assertEqual({name: verdict(frame) for name, frame in DROPPED.items()}, dict.fromkeys(DROPPED, DROP))

    def test_too_short(self) -> None:
        """One that ends before what is asked for, wherever that is, is left to the node, which drops it."""
        frame = TAKEN["HTTP"]
        self.assertEqual([verdict(frame[:size]) for size in (0, 13, 14, 20, 33, 37)], [SHORT] * 6)
        self.assertEqual(verdict(DROPPED["IPv6"][:14]), DROP)

    def test_before_it_is_up(self) -> None:
        """No packet comes before the program stands there."""
        argvs = communication_argvs(NodeEnd({"INTERFACE": "gnt.com.1", "IP": "169.254.3.1"}))
        (up,) = [place for place, argv in enumerate(argvs) if argv[:3] == ["ip", "link", "set"] and argv[-1] == "up"]
        programs = [argv[1] for argv in argvs[:up] if argv[0] == "tc"]
        self.assertEqual((programs, [argv[0] for argv in argvs[up:]].count("tc")), (["qdisc", "filter"], 0))
