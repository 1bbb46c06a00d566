"""The Remote API daemon put together."""

import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IListeningPort
from twisted.internet.protocol import ServerFactory
from twisted.logger import Logger

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.luxi import on_twisted
from ganeti_tx.luxi.async_client import AsyncClient
from ganeti_tx.mastership.this_node import NotMasterError, check_ssconf_master
from ganeti_tx.model.host_port import host_port
from ganeti_tx.model.own_ports import RAPI_PORT
from ganeti_tx.rapi.access import composition as access
from ganeti_tx.rapi.access.composition import GateParts
from ganeti_tx.rapi.access.gate import Gate
from ganeti_tx.rapi.app import AppParts, RapiApp
from ganeti_tx.rapi.asking.luxi_calls import LuxiCalls
from ganeti_tx.rapi.asking.questions import LANES_TO_NODES, SharedQuestions, unread
from ganeti_tx.rapi.events.event_feed import EventFeed
from ganeti_tx.rapi.http.access_log import AccessLog
from ganeti_tx.rapi.http.connections import MOST, Connections
from ganeti_tx.rapi.http.tls import RapiTls
from ganeti_tx.rapi.master_watch import watch_master
from ganeti_tx.rapi.measures import Measures
from ganeti_tx.rapi.resources.table import OPERATIONS, served_operations
from ganeti_tx.rapi.site import RapiSite
from ganeti_tx.runtime.entropy import IEntropy, SystemEntropy
from ganeti_tx.runtime.file_watch import IFileWatch, InotifyWatch
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.membership import not_in_cluster
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.own_address import OwnAddress
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.stat_watch import StatBeside
from ganeti_tx.runtime.threads import IThreads, reactor_threads

log = Logger()

PORT = RAPI_PORT
#: Connections that may wait to be taken in.
BACKLOG = 1024
#: Seconds that requests under way have to be answered when the daemon is told to end.
LAST_ANSWERS = 3.0


@frozen(kw_only=True)
class Settings:
    """What the command line says.

    @ivar address: to listen on; None for every one, or for the node's own when its root is not the machine's.
    @ivar certificate, key: files with PEM in them; None for rapi.pem.
    """

    port: int = PORT
    address: str | None = None
    tls: bool = True
    certificate: Path | None = None
    key: Path | None = None
    require_authentication: bool = False
    max_clients: int = MOST


@define
class RapiParts:
    """What the daemon works with; the composition root fills it with real things or with simulated ones."""

    paths: Paths
    files: IFiles
    threads: IThreads
    watch: IFileWatch
    reactor: IDaemonReactor
    own_name: str
    entropy: IEntropy = field(factory=SystemEntropy)
    now: Callable[[], int] = time.time_ns


def real_parts(reactor: IDaemonReactor) -> RapiParts:
    """The parts on this machine."""
    threads = reactor_threads(reactor)
    files = RealFiles(threads)
    return RapiParts(
        paths=Paths.from_environment(os.environ),
        files=files,
        threads=threads,
        watch=StatBeside(InotifyWatch(reactor), files, reactor),
        reactor=reactor,
        own_name=own_name(),
    )


def make_gate(parts: RapiParts, settings: Settings) -> Gate:
    """Who is let in."""
    gate_parts = GateParts(
        parts.paths, parts.files, parts.watch, parts.threads, parts.reactor, parts.entropy, lambda: parts.now() / 1e9
    )
    return access.make_gate(gate_parts, OPERATIONS, settings.require_authentication)


def make_luxi(parts: RapiParts) -> LuxiCalls:
    """The connections to the master daemon; none is opened yet."""
    socket = str(parts.paths.query_socket)
    for_questions = on_twisted.connector(parts.reactor, socket, read=unread)
    return LuxiCalls(
        lambda: on_twisted.client(parts.reactor, socket),
        questions=SharedQuestions(lambda: AsyncClient(for_questions)),
        to_nodes=SharedQuestions(lambda: AsyncClient(for_questions), LANES_TO_NODES),
    )


def make_feed(parts: RapiParts) -> EventFeed:
    """What streams events to clients; it asks for none yet."""
    socket = str(parts.paths.query_socket)
    return EventFeed(
        follower=on_twisted.client(parts.reactor, socket),
        asker=on_twisted.client(parts.reactor, socket),
        clock=parts.reactor,
        now=lambda: parts.now() / 1e9,
    )


async def start(
    parts: RapiParts, settings: Settings, leave: Callable[[NotMasterError], None]
) -> Callable[[], Awaitable[None]]:
    """Listen for requests. @raise GanetiError, OSError: it cannot be, and the text says why.

    @param leave: ends the daemon when another node has become the master.
    """
    check_ssconf_master(parts.files, parts.paths, parts.own_name)
    luxi, feed = make_luxi(parts), make_feed(parts)
    connections = Connections(clock=parts.reactor, most=settings.max_clients)
    measures = Measures(parts.reactor, connections, parts.threads)
    app_parts = AppParts(make_gate(parts, settings), luxi, parts.threads, parts.now, measures, feed)
    app = RapiApp(served_operations(UNITS), app_parts)
    access_log = AccessLog(parts.paths.rapi_access_log, parts.reactor)
    site = RapiSite(app, connections, access_log, parts.reactor)
    address = settings.address if settings.address is not None else await default_address(parts)
    listening = listen(parts, settings, site, address)
    log.info("the Remote API is at {where}", where=host_port(address, settings.port))

    watch_master(parts.files, parts.paths, parts.watch, parts.own_name, leave)
    measures.process.start()

    async def stop() -> None:
        measures.process.stop()
        parts.watch.stop()
        await maybeDeferred(listening.stopListening)
        feed.close()
        await connections.finish(LAST_ANSWERS)
        luxi.close()
        access_log.close()

    return stop


async def default_address(parts: RapiParts) -> str:
    """Every address of the machine, or the node's own where several nodes share one machine."""
    address = OwnAddress(parts.files, parts.paths, parts.threads, parts.reactor)
    return address.every() if parts.paths.root == Path("/") else await address.primary(parts.own_name)


def listen(parts: RapiParts, settings: Settings, site: ServerFactory[Any], address: str) -> IListeningPort:
    """Over TLS unless it was said otherwise."""
    if not settings.tls:
        log.warn("--no-ssl: passwords and answers cross the network in clear")
        return parts.reactor.listenTCP(settings.port, site, backlog=BACKLOG, interface=address)
    certificate = settings.certificate or parts.paths.rapi_pem
    key = settings.key or settings.certificate or parts.paths.rapi_pem
    if not parts.files.exists(certificate):
        if not parts.files.exists(parts.paths.ssconf_file("master_node")):
            raise not_in_cluster(parts.paths.ssconf_file("master_node"))
        raise ConfigurationError(
            f"there is no certificate for the Remote API at {certificate}; "
            "put one with its key there in PEM, or name others with --ssl-cert and --ssl-key"
        )
    tls = RapiTls(files=parts.files, certificate=certificate, key=key)
    for directory in {certificate.parent, key.parent}:
        parts.watch.watch(directory, tls.file_changed)
    maker: Any = tls  # of connections, which Twisted takes where its types name contexts only
    return parts.reactor.listenSSL(settings.port, site, maker, backlog=BACKLOG, interface=address)
