"""`twistd ganeti-master`: wconfd and luxid in one reactor, which spares luxid a socket and a copy of the configuration."""

from collections.abc import Callable, Sequence
from typing import Any

from ganeti_tx.election import voting
from ganeti_tx.locking.interfaces import LockStatus, Owner
from ganeti_tx.luxid.composition import WconfdHere, run_luxid
from ganeti_tx.metrics.readings import Readings
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.runtime.daemon_options import DaemonOptions
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.steady_clock import steady
from ganeti_tx.wconfd.service import build_wconfd, listen, master_role, real_parts

#: luxid is no job; it changes the configuration for those who ask it to.
LUXID = Owner(0, "")


class Options(DaemonOptions):
    """What the master daemon can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optFlags = voting.FLAGS
    optParameters = voting.PARAMETERS


def makeService(options: Options) -> Daemon:
    """The service that twistd runs."""
    from twisted.internet import reactor

    return make_service(options, steady(reactor))


def make_service(options: Options, reactor: IDaemonReactor) -> Daemon:
    """The same with the reactor given."""
    parts = real_parts(reactor)

    async def bring_up() -> Any:
        role, watched = master_role(parts, lambda error: daemon.leave(error))
        await role.take(voting.voting_of(options, parts.files, parts.paths), lead=True)
        wconfd = await build_wconfd(watched)
        role.when_risen(wconfd.distributor.redistribute)
        stop_wconfd = await listen(wconfd, reactor, parts.paths)

        async def locks() -> Sequence[LockStatus]:
            return wconfd.locks.overview()

        async def look_for_dead() -> None:
            wconfd.owners.release_dead()

        async def readings() -> Readings:
            return wconfd.readings()

        def subscribe(listener: Callable[[ConfigData], None]) -> None:
            wconfd.store.subscribe(lambda config, _: listener(config))

        here = WconfdHere(
            lambda: wconfd.store.snapshot, locks, wconfd.config(LUXID), look_for_dead, readings, subscribe
        )
        stop_luxid = await run_luxid(reactor, here, role, "ganeti-master")

        async def stop() -> None:
            await stop_luxid()
            await stop_wconfd()

        return stop

    daemon = Daemon("ganeti-master", parts.paths, reactor, bring_up, replaces=("ganeti-luxid", "ganeti-wconfd"))
    return daemon
