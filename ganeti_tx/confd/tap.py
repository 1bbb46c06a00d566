"""`twistd ganeti-confd`: the options and the service."""

from typing import Any

from ganeti_tx.confd.beside import switch_threads_often
from ganeti_tx.confd.messages import PORT
from ganeti_tx.confd.service import real_parts, start
from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.runtime.daemon_options import DaemonOptions, address, port_number
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.steady_clock import steady


class Options(DaemonOptions):
    """What the configuration daemon can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optParameters = [
        ["port", "p", PORT, "the UDP port", port_number],
        ["bind", "b", None, "the address to listen on (default: the node's own)", address],
    ]


def makeService(options: Options) -> Daemon:
    """The service that twistd runs."""
    from twisted.internet import reactor

    return make_service(options, steady(reactor))


def make_service(options: Options, reactor: IDaemonReactor) -> Daemon:
    """The same with the reactor given."""
    parts = real_parts(reactor)

    async def bring_up() -> Any:
        switch_threads_often()
        return await start(parts, options["port"], options["bind"])

    return Daemon("ganeti-confd", parts.paths, reactor, bring_up)
