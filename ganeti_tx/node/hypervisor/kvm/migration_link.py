"""The connection over which a QEMU sends its machine, made for it here.

QEMU 7.2 stands still, and its guest with it, while whoever it has connected to itself keeps silent before the encryption is agreed
on. Given a connection that never makes it wait, it does not.
"""

import errno
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.errors import HypervisorError
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.ip_family import family_of
from ganeti_tx.node.hypervisor.kvm.source_only import check_source

#: Seconds until somebody answers, and between looks.
CONNECT_LIMIT = 10.0
PAUSE = 0.02
#: What connect(2) says while it goes on, and while nobody listens, as when the daemon that did is being started again.
NOT_YET = (errno.EINPROGRESS, errno.EALREADY, errno.ECONNREFUSED)
DONE = (0, errno.EISCONN)


@asynccontextmanager
async def connected(clock: IReactorTime, address: str, port: int, source: str = "") -> AsyncIterator[socket.socket]:
    """A connection, which is let go here in the end, whoever else has it then. @raise HypervisorError: there is none.

    @param source: the address of this node from which it comes; '': whichever the kernel takes.
    """
    check_source(source, address)
    with socket.socket(family_of(address), socket.SOCK_STREAM) as link:
        link.setblocking(False)
        if source:
            come_from(link, source)
        until = clock.seconds() + CONNECT_LIMIT
        refused = ""  # as one attempt was; in the end another one may be under way
        while (code := link.connect_ex((address, port))) in NOT_YET and clock.seconds() < until:
            refused = f": {os.strerror(code)}" if code == errno.ECONNREFUSED else refused
            await deferLater(clock, PAUSE)
        if code not in DONE:
            why = f"nobody answers within {CONNECT_LIMIT:g} s{refused}" if code in NOT_YET else os.strerror(code)
            raise HypervisorError(f"cannot connect to {host_port(address, port)}: {why}")
        yield link


def come_from(link: socket.socket, source: str) -> None:
    """@raise HypervisorError: this node does not have that address."""
    try:
        link.bind((source, 0))
    except OSError as error:
        raise HypervisorError(f"cannot connect from {source}: {os.strerror(error.errno or 0)}") from None
