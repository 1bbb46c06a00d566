"""The configuration daemon put together."""

import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from attrs import frozen
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger

from ganeti_tx.confd.answers import IAnswers
from ganeti_tx.confd.beside import without_collection
from ganeti_tx.confd.following import Following
from ganeti_tx.confd.port import ConfdPort
from ganeti_tx.confd.protocol import ConfdProtocol
from ganeti_tx.confd.sources import answers_of, sources_of
from ganeti_tx.model.host_port import host_port
from ganeti_tx.runtime.file_watch import IFileWatch, InotifyWatch
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.own_address import OwnAddress
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.threads import IThreads, reactor_threads

log = Logger()


@frozen
class ConfdParts:
    """What it works with; the composition root fills it with real things or with simulated ones."""

    name: str
    paths: Paths
    files: IFiles
    threads: IThreads
    watch: IFileWatch
    clock: IReactorTime
    now: Callable[[], float]
    #: Gives a protocol a port and an address; the result can stop listening.
    listen: Callable[[ConfdProtocol, int, str], Any]
    #: Makes answers of a configuration in JSON.
    answers: Callable[[bytes], IAnswers] = answers_of


def real_parts(reactor: IDaemonReactor) -> ConfdParts:
    """Those of this machine."""
    threads = reactor_threads(reactor)

    def listen(protocol: ConfdProtocol, port: int, address: str) -> ConfdPort:
        listening = ConfdPort(port, protocol, address, reactor)
        listening.startListening()
        return listening

    return ConfdParts(
        name=own_name(),
        paths=Paths.from_environment(os.environ),
        files=RealFiles(threads),
        threads=threads,
        watch=InotifyWatch(reactor),
        clock=reactor,
        now=time.time,
        listen=listen,
        answers=without_collection(answers_of),
    )


async def start(parts: ConfdParts, port: int, address: str | None) -> Callable[[], Awaitable[None]]:
    """Answer on the node's own address.

    @raise ConfigurationError: the node is not part of a cluster.
    """
    sources = sources_of(parts.files, parts.paths, parts.answers)
    present = sources.first()
    if address is None:
        address = await OwnAddress(parts.files, parts.paths, parts.threads, parts.clock).primary(parts.name)
    following = Following(sources, present, parts.threads, parts.clock, parts.watch)
    listening = parts.listen(ConfdProtocol(present, parts.now), port, address)
    following.start()
    log.info("confd for {name} on {where}", name=parts.name, where=host_port(address, port))

    async def stop() -> None:
        following.stop()
        await listening.stopListening()

    return stop
