"""Sockets at which the old node of a migration connects, and nobody else can.

Of other addresses the kernel drops all that they send to such a socket, as if nobody listened there. So no stranger is first,
nor holds up a QEMU that waits for their words, and who comes has yet to show a key.
"""

import ctypes
import os
import socket
import struct
from collections.abc import Sequence

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.ip_address import parsed
from ganeti_tx.model.ip_family import family_of, is_address

#: linux/filter.h: load a word of the packet, compare it, give the verdict; and where the header of the network begins.
LOAD, EQUALS, VERDICT, NETWORK = 0x20, 0x15, 0x06, -0x100000
#: Where the sender stands in there.
SENDER = {4: 12, 6: 8}
ALL, NOTHING = 0xFFFFFFFF, 0
#: asm-generic/socket.h: Python has no name for it.
SO_ATTACH_FILTER = 26
BACKLOG = 16


def listening(address: str, port: int, source: str = "") -> socket.socket:
    """A socket that listens at one of this node's addresses; port 0 is any that is free.

    @param source: the only address that can connect; '': it is not known, and all can.
    @raise HypervisorError: there can be none, and why.
    """
    check_source(source, address)
    listener = socket.socket(family_of(address), socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if source:
            keep_others_out(listener, source)
        listener.bind((address, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        why = os.strerror(error.errno) if error.errno else str(error)
        raise HypervisorError(f"cannot listen at {host_port(address, port)}: {why}") from None
    return listener


def check_source(source: str, address: str) -> None:
    """@raise HypervisorError: that is no address, or none from which this one is reached."""
    if source and not (is_address(source) and family_of(source) == family_of(address)):
        raise HypervisorError(f"not an address from which {address} is reached: {source!r}")


def keep_others_out(listener: socket.socket, source: str) -> None:
    """From before it listens; what it accepts has the same filter. @raise OSError: the kernel does not do that."""
    code = b"".join(struct.pack("HBBI", *each) for each in instructions(source))
    kept = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HP", len(code) // 8, ctypes.addressof(kept))
    listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


def instructions(source: str) -> Sequence[tuple[int, int, int, int]]:
    """What the kernel does with each packet: compare the sender word by word, and drop it at the first that is another one."""
    address = parsed(source)
    words = struct.unpack(f"!{len(address.packed) // 4}I", address.packed)
    found = []
    for number, word in enumerate(words):
        place = (NETWORK + SENDER[address.version] + 4 * number) & ALL
        to_the_drop = 2 * (len(words) - number) - 1
        found += [(LOAD, 0, 0, place), (EQUALS, 0, to_the_drop, word)]
    return [*found, (VERDICT, 0, 0, ALL), (VERDICT, 0, 0, NOTHING)]
