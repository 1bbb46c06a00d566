"""luxid on this machine: its real parts, its sockets and its zygote."""

import gc
import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IListeningPort
from twisted.logger import Logger

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.locking.interfaces import LockStatus
from ganeti_tx.luxid.metrics_methods import WconfdReadings
from ganeti_tx.luxid.service import LuxidParts, build_luxid
from ganeti_tx.luxid.zygote_process import Zygote
from ganeti_tx.mastership.address import MasterAddress
from ganeti_tx.mastership.loyalty import LoyalRpc
from ganeti_tx.mastership.role import MasterRole
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.queue.files.store import FILE_MODE
from ganeti_tx.queue.runners.process_launcher import ProcessJobLauncher
from ganeti_tx.queue.runners.runner_channel import ChannelFactory
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.file_watch import InotifyWatch
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.files_leftovers import remove_leftovers
from ganeti_tx.runtime.livelock import FlockLiveness, ILiveness
from ganeti_tx.runtime.livelock_holders import end_job_processes
from ganeti_tx.runtime.local_livelock import LocalLiveness
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.resolver import own_name
from ganeti_tx.runtime.sockets import listen_unix
from ganeti_tx.runtime.threads import reactor_threads

log = Logger()

LUXI_MODE = 0o660
RUNNER_MODE = 0o600
#: Seconds after which a job's process that died has been collected: then what it was writing can be told from what others write.
COLLECTED = 1.0


@frozen
class JobProcesses:
    """Where the processes that run jobs come from and call in."""

    launcher: ProcessJobLauncher
    zygote: Zygote
    liveness: ILiveness
    port: IListeningPort

    async def stop(self) -> None:
        """Fork no more; those that are busy go on."""
        await maybeDeferred(self.port.stopListening)
        self.launcher.stop()
        self.zygote.stop()


def job_processes(reactor: Any, paths: Paths) -> JobProcesses:
    """Start the zygote, and listen to what it forks."""
    zygote = Zygote(reactor, lambda: launcher.zygote_died(), lambda *ended: launcher.runner_ended(*ended))
    liveness = LocalLiveness(FlockLiveness(), paths.livelock_dir)
    launcher = ProcessJobLauncher(reactor, liveness, zygote.fork, os.kill)
    port = listen_unix(reactor, paths.runner_socket, ChannelFactory(launcher.welcome), RUNNER_MODE)
    zygote.start()
    return JobProcesses(launcher, zygote, liveness, port)


async def run_luxid(
    reactor: Any,
    snapshot: Callable[[], ConfigData],
    locks: Callable[[], Awaitable[Sequence[LockStatus]]],
    config: IConfig,
    look_for_dead: Callable[[], Coroutine[Any, Any, None]],
    role: MasterRole,
    wconfd_readings: WconfdReadings,
    daemon: str,
    follow_config: Callable[[Callable[[ConfigData], None]], None] | None = None,
) -> Callable[[], Awaitable[None]]:
    """Bring luxid up; gives what takes it down.

    @param snapshot: the newest configuration, without waiting.
    @param locks: every lock that is held or waited for.
    @param role: the master role, which this daemon has taken; luxid watches it and holds the cluster's address with it.
    @param config: for the changes that luxid itself makes, those of filter rules.
    @param wconfd_readings: what WConfD has counted.
    @param daemon: the name under which this daemon tells of its process.
    @param look_for_dead: has WConfD free the locks of a job's process that died.
    @param follow_config: has a listener called with each new configuration; without it the file is watched.
    """
    paths = Paths.from_environment(os.environ)
    threads = reactor_threads(reactor)
    files = RealFiles(threads)
    queue_lock = hold(paths.queue_lock_file, FILE_MODE)

    async def clear_away() -> None:
        reactor.callLater(COLLECTED, remove_leftovers, [paths.queue_dir])
        await look_for_dead()

    processes = job_processes(reactor, paths)
    watch = InotifyWatch(reactor)
    rpc = LoyalRpc(node_rpc(reactor, files, paths), role.refused)
    address = MasterAddress(rpc, own_name())
    tally = Tally()
    process = OwnProcess(daemon, tally, reactor)
    parts = LuxidParts(
        own_name=own_name(),
        paths=paths,
        files=files,
        clock=reactor,
        now=time.time,
        rpc=rpc,
        watch=watch,
        snapshot=snapshot,
        locks=locks,
        wconfd_readings=wconfd_readings,
        look_for_dead=clear_away,
        config=config,
        make_launcher=lambda: processes.launcher,
        threads=threads,
        follow_config=follow_config,
        tally=tally,
        process=process,
    )
    luxid = await build_luxid(parts)
    gc.collect()
    gc.freeze()  # what is here now stays; looking through it for garbage again and again would hold everybody up
    luxi = listen_unix(reactor, paths.query_socket, luxid.factory, LUXI_MODE)
    await address.take(snapshot())
    role.watch()
    process.start()

    async def stop() -> None:
        role.stop()
        process.stop()
        await maybeDeferred(luxi.stopListening)
        luxid.catch_up.stop()
        watch.stop()
        await processes.stop()
        if role.is_lost:  # on the new master its jobs have failed
            ended = end_job_processes(paths.livelock_dir, processes.liveness)
            log.warn("{count} processes of jobs were ended", count=len(ended))
        await address.give_up(snapshot())
        queue_lock.release()

    return stop
