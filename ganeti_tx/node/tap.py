"""`twistd ganeti-noded`: the options and the service."""

from typing import Any

from twisted.logger import Logger

from ganeti_tx.model.node_port import NODE_PORT
from ganeti_tx.node.service import real_parts, start
from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.runtime.daemon_options import ListeningOptions, address, connections, port_number
from ganeti_tx.runtime.limited_channel import MAX_UNAUTHENTICATED
from ganeti_tx.runtime.locked_memory import lock_memory
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.steady_clock import steady

log = Logger()


class Options(ListeningOptions):
    """What the node daemon can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optParameters = [
        ["port", "p", NODE_PORT, "the TCP port", port_number],
        ["bind", "b", None, "the address to listen on (default: the node's own)", address],
        [
            "max-clients",
            None,
            MAX_UNAUTHENTICATED,
            "so many connections there may be that have made no call; one more takes the place of an old one",
            connections,
        ],
    ]
    optFlags = [["no-mlock", None, "do not lock the daemon in memory, as root's is, lest it need a disk that fails"]]


def makeService(options: Options) -> Daemon:
    """The service that twistd runs."""
    from twisted.internet import reactor

    return make_service(options, steady(reactor))


def make_service(options: Options, reactor: IDaemonReactor) -> Daemon:
    """The same with the reactor given."""
    parts = real_parts(reactor)

    async def bring_up() -> Any:
        if not options["no-mlock"]:
            tell_lock(lock_memory())
        return await start(parts, options["port"], options["bind"], options["max-clients"])

    return Daemon("ganeti-noded", parts.paths, reactor, bring_up)


def tell_lock(obstacle: str) -> None:
    """Once, in the log: the daemon does its work without it."""
    if obstacle:
        log.warn("memory is not locked, so that a broken disk may stop this daemon, too: {why}", why=obstacle)
    else:
        log.info("all memory is locked")
