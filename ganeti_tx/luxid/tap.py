"""`twistd ganeti-luxid`: luxid apart from wconfd, which it asks over its socket."""

import os
from typing import Any

from twisted.python import usage

from ganeti_tx.config.file_snapshot import FileSnapshot
from ganeti_tx.luxid.composition import run_luxid
from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.wconf.client import WconfClient


class Options(usage.Options):
    """What luxid can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optFlags = [["debug", "d", "log more"]]


def makeService(options: Options) -> Daemon:
    """The service that twistd runs."""
    from twisted.internet import reactor

    return make_service(options, reactor)


def make_service(options: Options, reactor: Any) -> Daemon:
    """The same with the reactor given."""
    paths = Paths.from_environment(os.environ)

    async def bring_up() -> Any:
        config = FileSnapshot(RealFiles(reactor_threads(reactor)), paths)
        wconf = WconfClient(reactor, paths.wconfd_socket)
        return await run_luxid(reactor, config.current, wconf.lock_overview)

    return Daemon("ganeti-luxid", paths, reactor, bring_up)
