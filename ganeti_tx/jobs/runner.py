"""A runner: a process that runs one job at a time for luxid, and holds its livelock while it lives."""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import IO, cast

from attrs import define, field
from twisted.internet import epollreactor
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import UNIXClientEndpoint
from twisted.logger import (
    FileLogObserver,
    FilteringLogObserver,
    ILogObserver,
    Logger,
    LogLevel,
    LogLevelFilterPredicate,
    formatEventAsClassicLogText,
    globalLogBeginner,
)
from twisted.python.failure import Failure

from ganeti_tx.config.ssconf_reader import SsconfReader
from ganeti_tx.errors import GanetiError, GenericError, error_text
from ganeti_tx.jobs.domain_secret import domain_secret
from ganeti_tx.jobs.execute import JobRun
from ganeti_tx.jobs.journal import Journal
from ganeti_tx.jobs.submission import submitter
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.logic.master_state import MasterState
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.logic.unit import Ping, Resolve, UnitTable
from ganeti_tx.mastership.term import MasterTerm, Stamps, read_term
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.model.node_address import NodeAddress
from ganeti_tx.queue.copies.replication import Replicator
from ganeti_tx.queue.files.faults import queue_faults
from ganeti_tx.queue.files.job_head import summary_of
from ganeti_tx.queue.runners.runner_channel import (
    Channel,
    ChannelFactory,
    GoOn,
    Hello,
    JobOver,
    Lagging,
    Leave,
    Measured,
    Message,
    RunJob,
    SetPriority,
    StepBack,
    StopJob,
    Stopping,
    TurnOver,
)
from ganeti_tx.rpc.agent import node_rpc
from ganeti_tx.rpc.interfaces import INodeRpc
from ganeti_tx.rpc.measured import MeasuredRpc
from ganeti_tx.rpc.stamped import StampedRpc
from ganeti_tx.rpc.understood import UnderstoodRpc
from ganeti_tx.runtime.allocators import allocator_fault
from ganeti_tx.runtime.daemon_log import WhileRead, daemon_log, with_system
from ganeti_tx.runtime.files import IFiles, RealFiles
from ganeti_tx.runtime.files_errors import explained
from ganeti_tx.runtime.listed_files import readable_list
from ganeti_tx.runtime.livelock import create_livelock
from ganeti_tx.runtime.names import own_name
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.ping import answers
from ganeti_tx.runtime.rapi_files import read_group_scopes
from ganeti_tx.runtime.reactors import IDaemonReactor, ISocketReactor
from ganeti_tx.runtime.resolver import Resolver
from ganeti_tx.runtime.steady_clock import steady
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.runtime.watcher_pause import PauseFile
from ganeti_tx.wconfd.protocol.client import WconfClient

log = Logger()

#: Seconds between tries to find luxid again.
RECONNECT_INTERVAL = 0.5
#: Seconds for which a candidate that did not take a copy is left alone; luxid brings it what it lacks.
REOPEN_INTERVAL = 30.0
#: Seconds for luxid's answer whether a job keeps its slot; without one it does.
SLOT_LIMIT = 10.0
#: Seconds that a busy runner may be without luxid after its job has ended before it leaves.
ALONE_LIMIT = 5.0
#: Series of what was counted that go into one message, which then is far shorter than it may be.
SERIES_AT_A_TIME = 100


def run_forever(paths: Paths) -> int:
    """Install a reactor in this fresh child and serve until luxid sends us away."""
    epollreactor.install()
    from twisted.internet import reactor as installed

    reactor = steady(installed)
    begin_logging(paths)
    livelock = create_livelock(paths.livelock_dir, "job", time.time)

    def begin() -> None:
        try:
            runner = Runner(real_parts(paths, reactor, str(livelock.path)))
        except (GanetiError, OSError) as error:
            log.error("a job process cannot start: {error}", error=error_text(error))
            reactor.stop()
            return
        signal.signal(signal.SIGTERM, lambda *_: reactor.callFromThread(runner.stop))
        runner.begin()

    reactor.callWhenRunning(begin)
    reactor.run()
    livelock.release()
    return 0


def begin_logging(paths: Paths) -> None:
    """Write to the log of all jobs, and warnings and worse also to standard error, which is luxid's log."""
    observer = FileLogObserver(cast(IO[str], WhileRead(sys.stderr)), formatEventAsClassicLogText)
    enough = FilteringLogObserver(observer, [LogLevelFilterPredicate(LogLevel.warn)])
    globalLogBeginner.beginLoggingTo([enough, *jobs_log(paths)], redirectStandardIO=False)


def jobs_log(paths: Paths) -> list[ILogObserver]:
    """The log that all job processes of this node share, each line with its process id; none where it cannot be opened."""
    try:
        observer = daemon_log(paths.jobs_log)
    except OSError as error:
        print(f"jobs are not logged: {explained(error, paths.jobs_log)}", file=sys.stderr, flush=True)
        return []
    return [with_system(f"job process {os.getpid()}", observer)]


@define
class RunnerParts:
    """What a runner works with; the composition root fills it with real things or with simulated ones."""

    paths: Paths
    reactor: ISocketReactor
    livelock: str
    process_id: int
    own_name: str
    files: IFiles
    rpc: INodeRpc
    wconf: WconfClient
    resolve: Resolve
    ping: Ping
    now: Callable[[], float]
    end: Callable[[], None]
    units: UnitTable = UNITS
    ticks: Callable[[], int] = time.monotonic_ns


def real_parts(paths: Paths, reactor: IDaemonReactor, livelock: str) -> RunnerParts:
    """A runner's parts in a process of its own."""
    threads = reactor_threads(reactor)
    files = RealFiles(threads)
    return RunnerParts(
        paths=paths,
        reactor=reactor,
        livelock=livelock,
        process_id=os.getpid(),
        own_name=own_name(),
        files=files,
        rpc=node_rpc(reactor, files, paths),
        wconf=WconfClient(reactor, paths.wconfd_socket),
        resolve=Resolver(files, paths, threads, reactor).resolve,
        ping=lambda address: threads.run(answers, address),
        now=time.time,
        end=reactor.stop,
    )


@define(eq=False)
class Runner:
    """Takes jobs from the channel to luxid. When luxid is gone a running job goes on; an idle runner ends."""

    parts: RunnerParts
    replicator: Replicator = field(init=False)
    rpc: INodeRpc = field(init=False)
    tally: Tally = field(factory=Tally)
    _channel: Channel | None = None
    _run: JobRun | None = None
    _job_id: int | None = None
    _slot_answer: "Deferred[bool] | None" = None
    _ends: bool = False
    _ending: bool = False

    def begin(self) -> None:
        """Called in the running reactor: say hello to luxid, or end when that cannot be; luxid tries another."""
        ssconf = SsconfReader(self.parts.files, self.parts.paths)
        try:
            stamps = Stamps(
                own_term(self.parts), self.parts.ticks, lambda: read_term(self.parts.files, self.parts.paths)
            )
        except (GanetiError, OSError) as error:
            log.error("a job process cannot start: {error}", error=error_text(error))
            self._end()
            return
        self.rpc = UnderstoodRpc(StampedRpc(MeasuredRpc(self.parts.rpc, self.tally, self.parts.reactor), stamps))
        self.replicator = Replicator(
            self.rpc,
            lambda: other_candidates(ssconf, self.parts.own_name),
            lambda: stamps.next().sequence,
            lambda name: self.parts.reactor.callLater(REOPEN_INTERVAL, self._reopen, name),
            self.parts.reactor,
        )
        self._connect()

    def _reopen(self, name: str) -> None:
        """Send to a candidate again; whether it has caught up, luxid knows."""
        self.replicator.reopen(name)
        self.replicator.caught_up(name)

    def stop(self) -> None:
        """Stop the running job at its next safe point, and end when it is over."""
        if self._run is not None:
            self._ends = True
            self._stop_job(self._run)
        else:
            self._end()

    def _connect(self) -> None:
        endpoint = UNIXClientEndpoint(self.parts.reactor, str(self.parts.paths.runner_socket))
        connecting = endpoint.connect(ChannelFactory(self._welcome))
        connecting.addErrback(self._unreachable)

    def _unreachable(self, failure: Failure) -> None:
        if self._run is None:
            self._end()
        else:
            self.parts.reactor.callLater(RECONNECT_INTERVAL, self._connect)

    def _welcome(self, channel: Channel) -> None:
        channel.receive = self._received
        channel.lost = self._lost

        def hello() -> None:
            self._channel = channel
            channel.tell(Hello(self.parts.livelock, self.parts.process_id, self._job_id))

        channel.made = hello

    def _lost(self) -> None:
        self._channel = None
        self.replicator.told(())
        self._answered(True)
        if self._run is None:
            self._end()
        else:
            self.parts.reactor.callLater(RECONNECT_INTERVAL, self._connect)

    def _received(self, message: Message) -> None:
        if isinstance(message, RunJob):
            Deferred.fromCoroutine(self._do(message)).addErrback(self._broken)
        elif isinstance(message, StopJob):
            if self._run is not None:
                self._stop_job(self._run)
        elif isinstance(message, SetPriority):
            if self._run is not None:
                self._run.set_priority(message.priority)
        elif isinstance(message, (GoOn, StepBack)):
            self._answered(isinstance(message, GoOn))
        elif isinstance(message, Lagging):
            self.replicator.told(message.names)
        elif isinstance(message, Leave):
            self._end()

    def _stop_job(self, run: JobRun) -> None:
        job_id = run.journal.job.id

        def noted(result: object) -> None:
            if isinstance(result, Failure):
                log.error("job {job_id} stops, but its file cannot say so: {error}", job_id=job_id, error=result.value)
            if self._channel is not None:
                self._channel.tell(Stopping(job_id))

        Deferred.fromCoroutine(run.stop()).addBoth(noted)

    async def _may_go_on(self, priority: int) -> bool:
        """Ask luxid; while it is away the job goes on."""
        if self._channel is None or self._job_id is None:
            return True
        answer = self._slot_answer = Deferred()
        limit = self.parts.reactor.callLater(SLOT_LIMIT, self._answered, True)
        self._tell_measured(self._channel)
        self._channel.tell(TurnOver(self._job_id, priority))
        try:
            return await answer
        finally:
            if limit.active():
                limit.cancel()

    def _answered(self, go_on: bool) -> None:
        answer, self._slot_answer = self._slot_answer, None
        if answer is not None:
            answer.callback(go_on)

    async def _do(self, order: RunJob) -> None:
        job, parts = order.job, self.parts
        owner = Owner(job.id, parts.livelock)
        journal = Journal(
            job, parts.paths.job_file(job.id), parts.files, self.replicator.replicate, parts.now, parts.reactor
        )
        self._job_id = job.id
        self._run = JobRun(
            journal=journal,
            units=parts.units,
            config=parts.wconf.config(owner),
            locks=parts.wconf.locks(owner),
            nodes=self.rpc,
            clock=parts.reactor,
            now=parts.now,
            submit_jobs=submitter(parts.reactor, parts.paths),
            resolve=parts.resolve,
            ping=parts.ping,
            queue_faults=lambda: queue_faults(parts.files, parts.paths),
            listed_files=lambda: readable_list(parts.files, parts.paths),
            group_scopes=lambda: read_group_scopes(parts.files, parts.paths, parts.now()),
            allocator_fault=partial(allocator_fault, parts.files, parts.paths),
            master_state=MasterState(
                partial(parts.files.exists, parts.paths.queue_drain_file),
                PauseFile(parts.files, parts.paths, parts.now).get,
            ),
            domain_secret=partial(domain_secret, parts.files, parts.paths),
            may_go_on=self._may_go_on,
            secrets=order.secrets,
        )
        log.info(
            "job {job_id} begins: {summary}", job_id=job.id, summary=", ".join(summary_of(op.input) for op in job.ops)
        )
        await self._run.run()
        log.info("job {job_id} is {status}", job_id=job.id, status=journal.job.status.value)
        self._run, self._job_id = None, None
        if self._ends:
            self._end()
        elif self._channel is not None:
            self._tell_measured(self._channel)
            self._channel.tell(JobOver(job.id))
        else:
            self.parts.reactor.callLater(ALONE_LIMIT, self._leave_alone)

    def _tell_measured(self, channel: Channel) -> None:
        """Hand over what was counted; what luxid does not get because it is away goes with the next job's."""
        for piece in self.tally.take().pieces(SERIES_AT_A_TIME):
            channel.tell(Measured(piece))

    def _leave_alone(self) -> None:
        """Nobody came back for us: the job's file tells its end."""
        if self._channel is None and self._run is None:
            self._end()

    def _broken(self, failure: Failure) -> None:
        """The job's file could not be brought to its end, or locks may be left; luxid and WConfD see the livelock go."""
        error = failure.value
        if isinstance(error, (GanetiError, OSError)):
            log.error("the process of job {job_id} ends: {error}", job_id=self._job_id, error=error_text(error))
        else:
            log.failure("the process of job {job_id} broke", failure, job_id=self._job_id)
        self._end()

    def _end(self) -> None:
        """End this process, once."""
        if not self._ending:
            self._ending = True
            self.parts.end()


def own_term(parts: RunnerParts) -> MasterTerm:
    """The term that this node's master daemons have claimed. @raise GenericError: none, or another node's."""
    term = read_term(parts.files, parts.paths)
    if term is None or term.master != parts.own_name:
        raise GenericError(f"node {parts.own_name} is not the master of this term ({parts.paths.master_term_file})")
    return term


def other_candidates(ssconf: SsconfReader, own: str) -> Sequence[NodeAddress]:
    """The master candidates that get copies: all but this node."""
    return [NodeAddress(node.name, node.primary_ip, node.offline) for node in ssconf.candidates() if node.name != own]
