"""luxid on this machine: its real parts, its sockets and its zygote."""

import os
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from attrs import frozen
from twisted.internet.defer import maybeDeferred
from twisted.internet.interfaces import IListeningPort
from twisted.logger import Logger

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.election.address import MasterAddress
from ganeti_tx.election.master_rpc import MasterRpc
from ganeti_tx.election.role import MasterRole
from ganeti_tx.locking.interfaces import LockStatus
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.luxid.metrics_methods import WconfdReadings
from ganeti_tx.luxid.service import LuxidParts, build_luxid, stamped
from ganeti_tx.luxid.zygote_process import Zygote
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.queue.files.store import FILE_MODE
from ganeti_tx.queue.runners.process_launcher import ProcessJobLauncher
from ganeti_tx.queue.runners.runner_channel import ChannelFactory
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.rpc.stamped import StampedRpc
from ganeti_tx.runtime.file_lock import hold
from ganeti_tx.runtime.file_watch import InotifyWatch
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.files_leftovers import remove_leftovers
from ganeti_tx.runtime.livelock import FlockLiveness, ILiveness
from ganeti_tx.runtime.livelock_holders import end_job_processes
from ganeti_tx.runtime.local_livelock import LocalLiveness
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import IDaemonReactor
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


def job_processes(reactor: IDaemonReactor, paths: Paths) -> JobProcesses:
    """Start the zygote, and listen to what it forks."""
    zygote = Zygote(reactor, lambda: launcher.zygote_died(), lambda *ended: launcher.runner_ended(*ended))
    liveness = LocalLiveness(FlockLiveness(), paths.livelock_dir)
    launcher = ProcessJobLauncher(reactor, liveness, zygote.fork, os.kill)
    port = listen_unix(reactor, paths.runner_socket, ChannelFactory(launcher.welcome), RUNNER_MODE)
    zygote.start()
    return JobProcesses(launcher, zygote, liveness, port)


@frozen
class WconfdHere:
    """What luxid has of WConfD, whether that runs in this process or in another."""

    #: The newest configuration, without waiting.
    snapshot: Callable[[], ConfigData]
    #: Every lock that is held or waited for.
    locks: Callable[[], Awaitable[Sequence[LockStatus]]]
    #: For the changes that luxid itself makes, those of filter rules.
    config: IConfig
    #: Has WConfD free the locks of a job's process that died.
    look_for_dead: Callable[[], Coroutine[Any, Any, None]]
    #: What WConfD has counted.
    readings: WconfdReadings
    #: Has a listener called with each new configuration; without it the file is watched.
    follow: Callable[[Callable[[ConfigData], None]], None] | None = None


def real_parts(
    reactor: IDaemonReactor,
    paths: Paths,
    wconfd: WconfdHere,
    role: MasterRole,
    launcher: ProcessJobLauncher,
    process: OwnProcess,
) -> LuxidParts:
    """luxid's parts on this machine."""
    threads = reactor_threads(reactor)
    files = RealFiles(threads)

    async def clear_away() -> None:
        reactor.callLater(COLLECTED, remove_leftovers, [paths.queue_dir])
        await wconfd.look_for_dead()

    return LuxidParts(
        own_name=own_name(),
        paths=paths,
        files=files,
        clock=reactor,
        now=time.time,
        rpc=MasterRpc(node_rpc(reactor, files, paths), role.refused),
        watch=InotifyWatch(reactor),
        snapshot=wconfd.snapshot,
        locks=wconfd.locks,
        wconfd_readings=wconfd.readings,
        look_for_dead=clear_away,
        config=wconfd.config,
        make_launcher=lambda: launcher,
        built=UNITS,
        threads=threads,
        follow_config=wconfd.follow,
        tally=process.tally,
        process=process,
    )


async def run_luxid(
    reactor: IDaemonReactor, wconfd: WconfdHere, role: MasterRole, daemon: str
) -> Callable[[], Awaitable[None]]:
    """Bring luxid up; gives what takes it down.

    @param role: the master role, which this daemon has taken; luxid watches it and holds the cluster's address with it.
    @param daemon: the name under which this daemon tells of its process.
    """
    paths = Paths.from_environment(os.environ)
    queue_lock = hold(paths.queue_lock_file, FILE_MODE)
    processes = job_processes(reactor, paths)
    process = OwnProcess(daemon, Tally(), reactor)
    parts = real_parts(reactor, paths, wconfd, role, processes.launcher, process)
    address = MasterAddress(StampedRpc(parts.rpc, await stamped(parts)), parts.own_name)
    luxid = await build_luxid(parts)
    luxi = listen_unix(reactor, paths.query_socket, luxid.factory, LUXI_MODE)
    await address.take(wconfd.snapshot())
    role.when_risen(luxid.catch_up.start_over)
    role.watch()
    process.start()

    async def stop() -> None:
        role.stop()
        process.stop()
        await maybeDeferred(luxi.stopListening)
        luxid.catch_up.stop()
        luxid.archiving.stop()
        parts.watch.stop()
        await processes.stop()
        if role.is_lost:  # on the new master its jobs have failed
            ended = end_job_processes(paths.livelock_dir, processes.liveness)
            log.warn("{count} processes of jobs were ended", count=len(ended))
        await address.give_up(wconfd.snapshot())
        queue_lock.release()

    return stop
