"""The Remote API daemon put together."""

import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from attrs import define, frozen
from twisted.logger import Logger

from ganeti_tx.errors import ConfigurationError
from ganeti_tx.luxi import on_twisted
from ganeti_tx.rapi.app import RapiApp
from ganeti_tx.rapi.caller import IGate
from ganeti_tx.rapi.closed_gate import ClosedGate
from ganeti_tx.rapi.luxi_calls import LuxiCalls
from ganeti_tx.rapi.resources.table import OPERATIONS
from ganeti_tx.rapi.site import RapiSite
from ganeti_tx.rapi.tls import RapiTls
from ganeti_tx.runtime.file_watch import IFileWatch, InotifyWatch
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.resolver import Resolver, own_name
from ganeti_tx.runtime.threads import IThreads, reactor_threads

log = Logger()

PORT = 5080
#: Connections that may wait to be taken in.
BACKLOG = 1024


@frozen
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
    max_clients: int | None = None


@define
class RapiParts:
    """What the daemon works with; the composition root fills it with real things or with simulated ones."""

    paths: Paths
    files: IFiles
    threads: IThreads
    watch: IFileWatch
    reactor: Any
    own_name: str
    now: Callable[[], int] = time.time_ns


def real_parts(reactor: Any) -> RapiParts:
    """The parts on this machine."""
    threads = reactor_threads(reactor)
    return RapiParts(
        paths=Paths.from_environment(os.environ),
        files=RealFiles(threads),
        threads=threads,
        watch=InotifyWatch(reactor),
        reactor=reactor,
        own_name=own_name(),
    )


def make_gate(parts: RapiParts, settings: Settings) -> IGate:
    """Who is let in."""
    gate: IGate = ClosedGate(settings.require_authentication)
    return gate


async def start(parts: RapiParts, settings: Settings) -> Callable[[], Awaitable[None]]:
    """Listen for requests. @raise GanetiError, OSError: it cannot be, and the text says why."""
    luxi = LuxiCalls(lambda: on_twisted.client(parts.reactor, str(parts.paths.query_socket)))
    app = RapiApp(OPERATIONS, make_gate(parts, settings), luxi, parts.now)
    site = RapiSite(app, parts.reactor)
    address = settings.address if settings.address is not None else await default_address(parts)
    listening = listen(parts, settings, site, address)
    log.info("the Remote API is at {address}:{port}", address=address, port=settings.port)

    async def stop() -> None:
        parts.watch.stop()
        await listening.stopListening()
        luxi.close()

    return stop


async def default_address(parts: RapiParts) -> str:
    """Every address of the machine, or the node's own where several nodes share one machine."""
    if parts.paths.root != Path("/"):
        _, own = await Resolver(parts.files, parts.paths, parts.threads, parts.reactor).resolve(parts.own_name)
        return own
    family = parts.paths.ssconf_file("primary_ip_family")
    return "::" if parts.files.exists(family) and parts.files.read(family, 64).strip() == b"10" else "0.0.0.0"


def listen(parts: RapiParts, settings: Settings, site: RapiSite, address: str) -> Any:
    """Over TLS unless it was said otherwise."""
    if not settings.tls:
        log.warn("--no-ssl: passwords and answers cross the network in clear")
        return parts.reactor.listenTCP(settings.port, site, backlog=BACKLOG, interface=address)
    certificate = settings.certificate or parts.paths.rapi_pem
    key = settings.key or settings.certificate or parts.paths.rapi_pem
    if not parts.files.exists(certificate):
        raise ConfigurationError(
            f"there is no certificate for the Remote API at {certificate}; "
            "make one with 'gnt-cluster renew-crypto --new-rapi-certificate'"
        )
    tls = RapiTls(parts.files, certificate, key)
    for directory in {certificate.parent, key.parent}:
        parts.watch.watch(directory, tls.file_changed)
    return parts.reactor.listenSSL(settings.port, site, tls, backlog=BACKLOG, interface=address)
