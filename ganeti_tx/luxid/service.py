"""luxid put together: LUXI, queries, the job queue and its runners."""

import time
from collections.abc import Awaitable, Callable, Container, Coroutine, Sequence
from typing import Any

from attrs import define, evolve, field
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater
from twisted.logger import Logger

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.locking.interfaces import LockStatus
from ganeti_tx.luxi.own_methods import ALL_METHODS
from ganeti_tx.luxi.server import LuxiFactory
from ganeti_tx.luxid.cluster_info import ClusterInfo
from ganeti_tx.luxid.dispatch import LuxiDispatch
from ganeti_tx.luxid.events.config_events import ConfigEvents, ConfigFile
from ganeti_tx.luxid.events.job_events import JobEvents
from ganeti_tx.luxid.events.job_reads import JobReads
from ganeti_tx.luxid.events.log import EventLog
from ganeti_tx.luxid.events.methods import EventMethods
from ganeti_tx.luxid.filter_methods import FilterMethods
from ganeti_tx.luxid.job_methods import JobMethods
from ganeti_tx.luxid.job_rows import JobRows
from ganeti_tx.luxid.measured_dispatch import MeasuredDispatch
from ganeti_tx.luxid.metrics_methods import MetricsMethods, WconfdReadings
from ganeti_tx.luxid.node_watch import NodeWatch
from ganeti_tx.luxid.query_methods import make_query_methods
from ganeti_tx.luxid.watcher_pause import WatcherPause
from ganeti_tx.mastership.term import Stamps, claim_term, read_term
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.model.node import Node
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.query.language.slices import Slices
from ganeti_tx.query.view import Views
from ganeti_tx.queue.archiving import Archiving
from ganeti_tx.queue.changes import JobChanges
from ganeti_tx.queue.copies.catch_up import CatchUp
from ganeti_tx.queue.copies.comparison import Comparison
from ganeti_tx.queue.copies.queue_copies import QueueCopies
from ganeti_tx.queue.copies.replication import Candidates, Replicator
from ganeti_tx.queue.files.drain import DrainFlag
from ganeti_tx.queue.files.job_file import job_number
from ganeti_tx.queue.files.store import JobStore
from ganeti_tx.queue.launcher import IJobLauncher
from ganeti_tx.queue.scheduler import Scheduler
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.rpc.measured import MeasuredRpc
from ganeti_tx.rpc.stamped import StampedRpc
from ganeti_tx.runtime.file_watch import IFileWatch
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.threads import InlineThreads, IThreads
from ganeti_tx.runtime.watcher_pause import PauseFile

log = Logger()


@define
class LuxidParts:
    """What luxid works with; the composition root fills it with real things or with simulated ones."""

    own_name: str
    paths: Paths
    files: IFiles
    clock: IReactorTime
    now: Callable[[], float]
    rpc: INodeRpc
    watch: IFileWatch
    snapshot: Callable[[], ConfigData]
    locks: Callable[[], Awaitable[Sequence[LockStatus]]]
    wconfd_readings: WconfdReadings
    config: IConfig
    look_for_dead: Callable[[], Coroutine[Any, Any, None]]
    make_launcher: Callable[[], IJobLauncher]
    #: The opcodes that jobs' processes can do.
    built: Container[type[OpCode]]
    threads: IThreads = field(factory=InlineThreads)
    ticks: Callable[[], int] = time.monotonic_ns
    #: Seconds that the thread has computed.
    worked: Callable[[], float] = time.thread_time
    #: Has a listener called with each new configuration; None when its file must be watched.
    follow_config: Callable[[Callable[[ConfigData], None]], None] | None = None
    tally: Tally = field(factory=Tally)
    process: OwnProcess | None = None


@define
class Luxid:
    """The parts of a luxid that is up."""

    store: JobStore
    scheduler: Scheduler
    changes: JobChanges
    factory: LuxiFactory
    dispatch: LuxiDispatch
    launcher: IJobLauncher
    catch_up: CatchUp
    archiving: Archiving


@define
class QueueFiles:
    """The queue's directory here, and what brings its copies to the candidates."""

    store: JobStore
    replicator: Replicator
    copies: QueueCopies
    drain: DrainFlag
    candidates: Candidates
    rpc: INodeRpc


async def build_luxid(parts: LuxidParts) -> Luxid:
    """Load the queue and take up what an earlier luxid left. @raise OSError: the queue cannot be read."""
    parts = evolve(parts, rpc=MeasuredRpc(parts.rpc, parts.tally, parts.clock))
    stamps = await stamped(parts)
    queue = queue_files(parts, stamps)
    await queue.store.load()
    changes = JobChanges(parts.clock, queue.store.get)
    events = make_events(parts, stamps, queue.store, changes)
    scheduler = make_scheduler(parts, queue.store, changes)
    catch_up = make_catch_up(parts, queue, scheduler)
    metrics = make_metrics(parts, queue, scheduler)
    archiving = Archiving(queue.store, parts.clock, parts.now, scheduler.is_followed)
    dispatch = make_dispatch(parts, queue, scheduler, changes, events, metrics, archiving)
    follow(parts, scheduler, catch_up)
    await scheduler.resume()
    catch_up.look()
    archiving.start()
    factory = LuxiFactory(MeasuredDispatch(dispatch, parts.tally, parts.clock), parts.clock, methods=ALL_METHODS)
    metrics.connections = lambda: factory.connections
    return Luxid(queue.store, scheduler, changes, factory, dispatch, scheduler.launcher, catch_up, archiving)


async def stamped(parts: LuxidParts) -> Stamps:
    """What orders all that is sent from here, in the term of this master."""
    cluster = parts.snapshot().cluster.uuid
    term = await claim_term(parts.files, parts.paths, cluster, parts.own_name, parts.now())
    return Stamps(term, parts.ticks, lambda: read_term(parts.files, parts.paths))


def queue_files(parts: LuxidParts, stamps: Stamps) -> QueueFiles:
    """The store with its copies, of which nobody is told yet that they fail."""

    def candidates() -> list[NodeAddress]:
        others = [node for node in other_nodes(parts) if node.master_candidate]
        return [NodeAddress(node.name, node.primary_ip, node.offline) for node in others]

    def up_to_date() -> list[NodeAddress]:
        return [node for node in candidates() if node.name not in replicator.behind]

    rpc = StampedRpc(parts.rpc, stamps)
    replicator = Replicator(rpc, candidates, lambda: stamps.next().sequence, lambda name: None, parts.clock)
    copies = QueueCopies(
        rpc,
        up_to_date,
        replicator.leave_alone,
        lambda: store.numbered(),
        lambda: drain.is_set(),
        parts.clock,
        lambda: replicator.lagging,
    )
    drain = DrainFlag(parts.files, parts.paths, copies.tell_drained)
    store = JobStore(parts.files, parts.paths, replicator.replicate, copies.rename, parts.threads)
    return QueueFiles(store, replicator, copies, drain, candidates, rpc)


def make_scheduler(parts: LuxidParts, store: JobStore, changes: JobChanges) -> Scheduler:
    """The scheduler; limits and rules are those of the newest configuration."""
    return Scheduler(
        store,
        changes,
        parts.make_launcher(),
        parts.now,
        running_limit=lambda: parts.snapshot().cluster.max_running_jobs,
        tracked_limit=lambda: parts.snapshot().cluster.max_tracked_jobs,
        rules=lambda: parts.snapshot().filters,
        look_for_dead=parts.look_for_dead,
        tally=parts.tally,
    )


def make_catch_up(parts: LuxidParts, queue: QueueFiles, scheduler: Scheduler) -> CatchUp:
    """Who brings candidates what they lack, and is told of those that did not take something."""
    comparison = Comparison(parts.files, parts.paths, queue.rpc)
    catch_up = CatchUp(
        queue.store, queue.replicator, queue.candidates, scheduler.is_followed, scheduler.when_over,
        queue.copies.complete, comparison, parts.clock,
    )  # fmt: skip
    queue.replicator.shut = catch_up.lacks
    queue.replicator.moved = scheduler.launcher.tell_lagging
    return catch_up


def make_metrics(parts: LuxidParts, queue: QueueFiles, scheduler: Scheduler) -> MetricsMethods:
    """What is counted, and where it is asked for."""
    nodes = NodeWatch(parts.rpc, Views(parts.snapshot), parts.clock)
    return MetricsMethods(
        parts.tally, parts.snapshot, scheduler, queue.drain.is_set, lambda: queue.replicator.lagging, nodes,
        parts.wconfd_readings, parts.process, parts.clock, parts.now,
    )  # fmt: skip


def make_dispatch(
    parts: LuxidParts,
    queue: QueueFiles,
    scheduler: Scheduler,
    changes: JobChanges,
    events: EventMethods,
    metrics: MetricsMethods,
    archiving: Archiving,
) -> LuxiDispatch:
    """Every method of LUXI with its answer."""
    rows = JobRows(queue.store)
    jobs = JobMethods(scheduler, queue.store, rows, changes, queue.drain, parts.clock, archiving, parts.built)
    pause_file = PauseFile(parts.files, parts.paths, parts.now)
    pause = WatcherPause(pause_file, queue.rpc, lambda: other_nodes(parts))
    info = ClusterInfo(parts.snapshot, pause_file.get, queue.drain.is_set)
    slices = Slices(lambda: deferLater(parts.clock, 0), parts.worked)
    queries = make_query_methods(parts.snapshot, parts.rpc, parts.locks, rows, info, parts.clock, slices)
    filters = FilterMethods(parts.config, scheduler.rules, lambda: queue.store.last_id, scheduler.wake)
    return LuxiDispatch(
        jobs.table(), queries.table(), filters.table(), {"SetWatcherPause": pause.set},
        events.table(), metrics.table(),
    )  # fmt: skip


def other_nodes(parts: LuxidParts) -> list[Node]:
    """All but this one."""
    return [node for node in parts.snapshot().nodes.values() if node.name != parts.own_name]


def make_events(parts: LuxidParts, stamps: Stamps, store: JobStore, changes: JobChanges) -> EventMethods:
    """The event log, which hears of jobs and of the configuration from now on."""
    begun = stamps.next()  # there is no second one like it
    events = EventMethods(EventLog(f"{begun.term:x}.{begun.sequence:x}"), parts.clock)
    store.observers.append(JobEvents(events.add, parts.now))
    changes.listeners.append(JobReads(store.glance, parts.clock).changed)
    config = ConfigEvents(events.add, parts.now, parts.snapshot())
    if parts.follow_config is not None:
        parts.follow_config(config.changed)
    else:
        ConfigFile(parts.snapshot, parts.clock, config.changed).watch(parts.watch, parts.paths)
    return events


def follow(parts: LuxidParts, scheduler: Scheduler, catch_up: CatchUp) -> None:
    """Hear of job files that change, most of which the jobs' processes write."""

    def file_changed(name: str) -> None:
        if (job_id := job_number(name)) is not None:
            scheduler.file_changed(job_id)
            catch_up.changed(job_id)
            catch_up.look()  # jobs make candidates

    parts.watch.watch(parts.paths.queue_dir, file_changed)
