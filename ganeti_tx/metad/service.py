"""The metadata daemon put together."""

import os
from collections.abc import Awaitable, Callable
from functools import partial
from socket import AF_INET
from typing import Any

from attrs import define
from twisted.internet.defer import maybeDeferred
from twisted.internet.protocol import DatagramProtocol, ServerFactory
from twisted.logger import Logger

from ganeti_tx.luxi.server import LuxiFactory
from ganeti_tx.metad.control import Control
from ganeti_tx.metad.dhcp.serving import LONGEST, AddressService, IListening, port_at
from ganeti_tx.metad.guests import Guests
from ganeti_tx.metad.http import MetadataSite
from ganeti_tx.metad.incoming import interface_of, listening
from ganeti_tx.metad.kept import load
from ganeti_tx.metad.protocol import LIMITS, METHODS
from ganeti_tx.model.host_port import host_port
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.membership import not_in_cluster
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.sockets import listen_unix
from ganeti_tx.runtime.threads import reactor_threads

log = Logger()

#: The node daemon is root, and nobody else has anything to say here.
SOCKET_MODE = 0o600


@define
class MetadataParts:
    """What the daemon works with; the composition root fills it with real things or with simulated ones."""

    paths: Paths
    files: IFiles
    reactor: IDaemonReactor


def real_parts(reactor: IDaemonReactor) -> MetadataParts:
    """The daemon's parts on this machine."""
    threads = reactor_threads(reactor)
    return MetadataParts(Paths.from_environment(os.environ), RealFiles(threads), reactor)


def opened(reactor: IDaemonReactor, interface: str, protocol: DatagramProtocol) -> IListening:
    """As `Open`."""
    made = port_at(interface)
    try:
        return reactor.adoptDatagramPort(made.fileno(), AF_INET, protocol, LONGEST)
    finally:
        made.close()  # the port has a copy of it


async def start(parts: MetadataParts, port: int, address: str) -> Callable[[], Awaitable[None]]:
    """Tell guests who come to an address. @raise NotInClusterError: the node is not part of a cluster."""
    if not parts.files.exists(parts.paths.ssconf_file("cluster_name")):
        raise not_in_cluster(parts.paths.ssconf_file("cluster_name"))
    addresses = AddressService(partial(opened, parts.reactor), parts.reactor)
    guests = Guests(addresses)
    load(guests, parts.files, parts.paths)
    site: ServerFactory[Any] = MetadataSite(guests, interface_of, parts.reactor)
    made = listening(address, port)
    try:
        over_http = parts.reactor.adoptStreamPort(made.fileno(), AF_INET, site)
    finally:
        made.close()  # the port has a copy of it
    factory = LuxiFactory(Control(guests), parts.reactor, methods=METHODS, limits=LIMITS)
    of_node = listen_unix(parts.reactor, parts.paths.metad_socket, factory, SOCKET_MODE)
    log.info("telling {count} instances on {where}", count=len(guests.names), where=host_port(address, port))

    async def stop() -> None:
        addresses.stop()
        await maybeDeferred(of_node.stopListening)
        await maybeDeferred(over_http.stopListening)

    return stop
