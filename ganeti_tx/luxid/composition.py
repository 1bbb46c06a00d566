"""luxid on this machine: its real parts, its sockets and its zygote."""

import gc
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from twisted.internet.defer import maybeDeferred
from twisted.logger import Logger

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.locking.interfaces import LockStatus
from ganeti_tx.luxid.service import LuxidParts, build_luxid
from ganeti_tx.luxid.zygote_process import Zygote
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.queue.process_launcher import ProcessJobLauncher
from ganeti_tx.queue.runner_channel import ChannelFactory
from ganeti_tx.queue.store import FILE_MODE
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.file_watch import InotifyWatch
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.livelock import FlockLiveness
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.resolver import own_name
from ganeti_tx.runtime.sockets import listen_unix
from ganeti_tx.runtime.threads import reactor_threads

log = Logger()

LUXI_MODE = 0o660
RUNNER_MODE = 0o600


async def run_luxid(
    reactor: Any,
    snapshot: Callable[[], ConfigData],
    locks: Callable[[], Awaitable[Sequence[LockStatus]]],
    config: IConfig,
    look_for_dead: Callable[[], None],
) -> Callable[[], Awaitable[None]]:
    """Bring luxid up; gives what takes it down.

    @param snapshot: the newest configuration, without waiting.
    @param locks: every lock that is held or waited for.
    @param config: for the changes that luxid itself makes, those of filter rules.
    @param look_for_dead: tells WConfD that a job's process died.
    """
    paths = Paths.from_environment(os.environ)
    threads = reactor_threads(reactor)
    files = RealFiles(threads)
    queue_lock = hold(paths.queue_lock_file, FILE_MODE)
    zygote = Zygote(reactor, lambda: launcher.zygote_died(), lambda *ended: launcher.runner_ended(*ended))
    launcher = ProcessJobLauncher(reactor, FlockLiveness(), zygote.fork, os.kill, owner_died=look_for_dead)
    runners = listen_unix(reactor, paths.runner_socket, ChannelFactory(launcher.welcome), RUNNER_MODE)
    zygote.start()
    watch = InotifyWatch(reactor)
    parts = LuxidParts(
        own_name=own_name(),
        paths=paths,
        files=files,
        clock=reactor,
        now=time.time,
        rpc=node_rpc(reactor, files, paths),
        watch=watch,
        snapshot=snapshot,
        locks=locks,
        config=config,
        make_launcher=lambda: launcher,
        threads=threads,
    )
    luxid = await build_luxid(parts)
    gc.collect()
    gc.freeze()  # what is here now stays; looking through it for garbage again and again would hold everybody up
    luxi = listen_unix(reactor, paths.query_socket, luxid.factory, LUXI_MODE)

    async def stop() -> None:
        await maybeDeferred(luxi.stopListening)
        await maybeDeferred(runners.stopListening)
        watch.stop()
        launcher.stop()
        zygote.stop()
        queue_lock.release()

    return stop
