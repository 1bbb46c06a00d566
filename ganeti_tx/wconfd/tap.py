"""`twistd ganeti-wconfd`: the options and the service."""

from collections.abc import Awaitable, Callable

import attrs

from ganeti_tx.election import voting
from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.runtime.daemon_options import DaemonOptions
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.steady_clock import steady
from ganeti_tx.wconfd.service import build_wconfd, listen, master_role, real_parts


class Options(DaemonOptions):
    """What WConfD can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optFlags = voting.FLAGS
    optParameters = voting.PARAMETERS


def makeService(options: Options) -> Daemon:
    """The service that twistd runs."""
    from twisted.internet import reactor

    return make_service(options, steady(reactor))


def make_service(options: Options, reactor: IDaemonReactor) -> Daemon:
    """The same with the reactor given."""
    parts = real_parts(reactor)
    process = OwnProcess("ganeti-wconfd", parts.tally, reactor)
    parts = attrs.evolve(parts, process=process)

    async def bring_up() -> Callable[[], Awaitable[None]]:
        role, watched = master_role(parts, lambda error: daemon.leave(error))
        await role.take(voting.voting_of(options, parts.files, parts.paths), lead=True)
        wconfd = await build_wconfd(watched)
        role.when_risen(wconfd.distributor.redistribute)
        stop = await listen(wconfd, reactor, parts.paths)
        role.watch()
        process.start()

        async def stop_all() -> None:
            role.stop()
            process.stop()
            await stop()

        return stop_all

    daemon = Daemon("ganeti-wconfd", parts.paths, reactor, bring_up)
    return daemon
