"""`twistd ganeti-wconfd`: the options and the service."""

from collections.abc import Awaitable, Callable
from typing import Any

from twisted.python import usage

from ganeti_tx.runtime.daemon import Daemon
from ganeti_tx.wconfd.service import build_wconfd, listen, real_parts


class Options(usage.Options):
    """What WConfD can be told; its place comes from GANETI_ROOTDIR and GANETI_HOSTNAME."""

    optFlags = [["debug", "d", "log more"]]


def makeService(options: Options) -> Daemon:
    """The service that twistd runs."""
    from twisted.internet import reactor

    return make_service(options, reactor)


def make_service(options: Options, reactor: Any) -> Daemon:
    """The same with the reactor given."""
    parts = real_parts(reactor)

    async def bring_up() -> Callable[[], Awaitable[None]]:
        wconfd = await build_wconfd(parts)
        return await listen(wconfd, reactor, parts.paths)

    return Daemon("ganeti-wconfd", parts.paths, reactor, bring_up)
