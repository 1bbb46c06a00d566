"""What a guest is answered that asks for its address."""

from ipaddress import IPv4Address, IPv4Network

from ganeti_tx.metad.dhcp.packet import NOWHERE, DhcpMessage, Kind, Option
from ganeti_tx.model.guest_facts import GuestFacts
from ganeti_tx.model.instance_communication import NODE_ADDRESS, RANGE

#: Seconds for which an address is given; it is nobody else's before or after.
LEASE = 86400
_SERVER = IPv4Address(NODE_ADDRESS).packed
#: Bytes of a name.
_LONGEST_NAME = 63


def answer(facts: GuestFacts, asked: DhcpMessage) -> DhcpMessage | None:
    """None for who is not asked for, or needs none. There is one address to have, and no way out by this interface."""
    macs = [nic.mac.lower() for nic in facts.nics if nic.to_node]
    if asked.mac not in macs or asked.options.get(Option.SERVER, _SERVER) != _SERVER:
        return None
    own = IPv4Address(facts.address)
    match asked.kind:
        case Kind.DISCOVER:
            return told(facts, asked, Kind.OFFER, own)
        case Kind.REQUEST if wanted(asked) == own.packed:
            return told(facts, asked, Kind.ACK, own)
        case Kind.REQUEST:
            return DhcpMessage(Kind.NAK, asked.transaction, asked.mac, options={Option.SERVER: _SERVER})
        case Kind.INFORM:
            return told(facts, asked, Kind.ACK, NOWHERE)
    return None


def wanted(asked: DhcpMessage) -> bytes:
    """The address that a client wants, or has."""
    return asked.options.get(Option.WANTED, asked.own.packed)


def told(facts: GuestFacts, asked: DhcpMessage, kind: Kind, given: IPv4Address) -> DhcpMessage:
    """Its address, and its name."""
    options = {
        int(Option.SERVER): _SERVER,
        int(Option.MASK): IPv4Network(RANGE).netmask.packed,
        int(Option.HOST_NAME): facts.name.partition(".")[0].encode()[:_LONGEST_NAME],
    }
    if given != NOWHERE:
        options[int(Option.LEASE)] = LEASE.to_bytes(4, "big")
    return DhcpMessage(kind, asked.transaction, asked.mac, asked.own, given, options)
