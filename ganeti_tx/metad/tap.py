"""`twistd ganeti-metad`: the options and the service."""

from typing import Any

from ganeti_tx.metad.service import real_parts, start
from ganeti_tx.model.instance_communication import METADATA_PORT, NODE_ADDRESS
from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.runtime.daemon_options import DaemonOptions, address, port_number
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.steady_clock import steady


class Options(DaemonOptions):
    """What the metadata daemon can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optParameters = [
        ["port", "p", METADATA_PORT, "the TCP port", port_number],
        ["bind", "b", NODE_ADDRESS, "the address to listen on", address],
    ]


def makeService(options: Options) -> Daemon:
    """The service that twistd runs."""
    from twisted.internet import reactor

    return make_service(options, steady(reactor))


def make_service(options: Options, reactor: IDaemonReactor) -> Daemon:
    """The same with the reactor given."""
    parts = real_parts(reactor)

    async def bring_up() -> Any:
        return await start(parts, options["port"], options["bind"])

    return Daemon("ganeti-metad", parts.paths, reactor, bring_up)
