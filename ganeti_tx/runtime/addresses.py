"""Which IP addresses are this machine's, and its interfaces'."""

import fcntl
import socket
import struct

#: Asks Linux for the address of an interface (netdevice(7)).
SIOCGIFADDR = 0x8915
_REQUEST = struct.Struct("16s4x4s16x")


def is_own_address(address: str) -> bool:
    """Whether a socket can be bound to it, which also holds for all of 127.0.0.0/8."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
        return True


def address_of(interface: str) -> str:
    """The IPv4 address of a network interface such as "lo". @raise OSError: there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        told = fcntl.ioctl(probe, SIOCGIFADDR, _REQUEST.pack(interface.encode()[:15], b""))
    _, address = _REQUEST.unpack(told)
    return socket.inet_ntoa(address)
