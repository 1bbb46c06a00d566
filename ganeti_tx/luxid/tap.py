"""`twistd ganeti-luxid`: luxid apart from wconfd, which it asks over its socket."""

import os
import time
from collections.abc import Sequence
from typing import Any

from ganeti_tx.config.file_snapshot import FileSnapshot
from ganeti_tx.election import voting
from ganeti_tx.election.role import MasterRole
from ganeti_tx.errors import ConfigurationError, LuxiError
from ganeti_tx.locking.interfaces import LockStatus
from ganeti_tx.luxid.composition import WconfdHere, run_luxid
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.runtime.daemon_options import DaemonOptions
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.runtime.steady_clock import steady
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.wconfd.protocol.client import NOBODY, WCONFD_ALONE, WconfClient

#: For so many seconds a query waits for WConfD, which may just be restarting.
TIMEOUT = 0.5


class Options(DaemonOptions):
    """What luxid can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optFlags = voting.FLAGS
    optParameters = voting.PARAMETERS


def makeService(options: Options) -> Daemon:
    """The service that twistd runs."""
    from twisted.internet import reactor

    return make_service(options, steady(reactor))


def make_service(options: Options, reactor: IDaemonReactor) -> Daemon:
    """The same with the reactor given."""
    paths = Paths.from_environment(os.environ)

    async def bring_up() -> Any:
        files = RealFiles(reactor_threads(reactor))
        role = MasterRole(
            files,
            paths,
            own_name(),
            reactor,
            time.time,
            lambda: node_rpc(reactor, files, paths),
            lambda error: daemon.leave(error),
        )
        await role.take(voting.voting_of(options, files, paths), lead=False)
        config = FileSnapshot(files, paths)
        wconf = WconfClient(reactor, paths.wconfd_socket, daemon=WCONFD_ALONE, timeout=TIMEOUT)

        async def locks() -> Sequence[LockStatus]:
            try:
                return await wconf.lock_overview()
            except ConfigurationError as error:
                raise LuxiError(str(error)) from None

        here = WconfdHere(config.current, locks, wconf.config(NOBODY), wconf.look_for_dead, wconf.readings)
        return await run_luxid(reactor, here, role, "ganeti-luxid")

    daemon = Daemon("ganeti-luxid", paths, reactor, bring_up)
    return daemon
