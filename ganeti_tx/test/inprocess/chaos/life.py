"""One seed's life of a cluster: some work, some faults, quiescence, and what must be true all along and in the end."""

import gc
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from attrs import define, field, frozen
from twisted.internet.defer import Deferred
from twisted.logger import ILogObserver, LogEvent, LogLevel, globalLogPublisher
from zope.interface import implementer

from ganeti_tx.errors import GanetiError
from ganeti_tx.queue.job import decode_job
from ganeti_tx.test.fakes.mirror_wire import MirrorWire
from ganeti_tx.test.inprocess.chaos.administrators import Administrators
from ganeti_tx.test.inprocess.chaos.executions import Executions
from ganeti_tx.test.inprocess.chaos.failovers import Failovers
from ganeti_tx.test.inprocess.chaos.faults import Faults, InjectedError
from ganeti_tx.test.inprocess.chaos.invariants import Invariants
from ganeti_tx.test.inprocess.chaos.operators import TEMPLATES, WITHOUT_MINORS, Operators
from ganeti_tx.test.inprocess.chaos.quiescence import Quiescence
from ganeti_tx.test.inprocess.chaos.record import Record
from ganeti_tx.test.inprocess.chaos.uneven_time import UnevenTime
from ganeti_tx.test.inprocess.cluster import InProcessCluster
from ganeti_tx.test.inprocess.mirrors import with_mirrors

#: Simulated seconds of work, and the time after the last fault in which everything must have come to rest.
DAY = 20.0
REST = 240.0
#: Seconds after the last fault until the administrators put right what they have changed.
SETTLE = 90.0
#: Simulated seconds within which new jobs must succeed in the end.
PROBE = 60.0
#: Collecting garbage takes as long as a life; so many lives are lived without.
THOROUGH_EVERY = 10
#: Turns between two looks at the locks.
LOOK_EVERY = 40
#: How often there is a change of masters in a life.
VOTING = 0.25
#: The turns of an ordinary day, among which the faults fall.
TURNS = 1500


@implementer(ILogObserver)
@frozen
class Listening:
    """Hands on what is logged."""

    tell: Callable[[LogEvent], None]

    def __call__(self, event: LogEvent) -> None:
        """See ILogObserver."""
        self.tell(event)


@frozen
class Outcome:
    """What became of a seed."""

    seed: int
    broken: list[str]
    turns: int
    faults: Counter[str]
    ends: Counter[str]
    digest: str
    story: list[str]


#: MiB a second.
SYNC_RATE = 1024.0


@define(eq=False)
class Life:
    """Builds the cluster of a seed and lets it live."""

    seed: int
    show: Callable[[str], None] | None = None
    changes: bool = False
    chance: Random = field(init=False)
    time: UnevenTime = field(init=False)
    record: Record = field(init=False)
    executions: Executions = field(init=False)
    cluster: InProcessCluster = field(init=False)
    operators: Operators = field(init=False)
    administrators: Administrators = field(init=False)
    invariants: Invariants = field(init=False)
    faults: Faults = field(init=False)
    failovers: Failovers = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.chance = Random(self.seed)
        self.time = UnevenTime(Random(self.chance.random()))
        self.record = Record(self.time, self.show)
        self.executions = Executions(self.record, self._held, self._who_knows)
        self.cluster = InProcessCluster(
            3, self.seed, 0, self.time, self.record.turn, self.executions.units_of, voting=self.chance.random() < VOTING,
            mirror_wire=MirrorWire(self.time.seconds, SYNC_RATE), prepare=with_mirrors,
        )  # fmt: skip
        self.operators = Operators(self.cluster, Random(self.chance.random()), self.record, self.changes)
        self.administrators = Administrators(self.operators, Random(self.chance.random()))
        self.invariants = Invariants(self.cluster, self.record, self.executions, self.operators)
        self.faults = Faults(self.cluster, Random(self.chance.random()), self.record)
        self.failovers = Failovers(self.cluster, self.faults, Random(self.chance.random()), self.record)

    def _held(self, node: str, owner: Any) -> Any:
        daemons = self.cluster.daemons[node]
        return daemons.wconfd.locks.held(owner) if daemons.wconfd_is_up else {}

    def _who_knows(self, job_id: int, livelock: str) -> set[str]:
        """The nodes whose copy of a job says that it has this process."""
        if not self.cluster.voting:
            return set()
        path = self.cluster.paths.job_file(job_id)
        copies = ((node.name, node.disk.content(path)) for node in self.cluster.members)
        return {name for name, copy in copies if copy is not None and decode_job(copy[0]).livelock == livelock}

    def _rest(self) -> Quiescence:
        failovers = self.failovers
        lossy = bool(failovers.completed) and (failovers.lossy or bool(self.faults.struck))
        return Quiescence(self.invariants, self.faults.darkened, lossy)

    def live(self) -> Outcome:
        """All of it; stops at the first broken invariant."""
        listening = Listening(self._logged)
        thorough = self.seed % THOROUGH_EVERY == 0
        if thorough:
            gc.collect()  # what others have left is not ours
        globalLogPublisher.addObserver(listening)
        try:
            self._work()
            self._come_to_rest()
            if thorough:
                gc.collect()  # errors that nobody has handled are logged when they are collected
        finally:
            globalLogPublisher.removeObserver(listening)
            self.cluster.end()
        record = self.record
        return Outcome(
            self.seed,
            record.broken,
            self.time.turns,
            self.faults.struck + Counter(failover=len(self.failovers.completed)),
            self._ends(),
            record.digest,
            record.story,
        )

    def _logged(self, event: LogEvent) -> None:
        """A logged failure is a fault in the program."""
        failure = event.get("log_failure")
        if failure is not None and not isinstance(failure.value, InjectedError):
            self.record.breach(f"logged: {event.get('log_format')} {failure.getTraceback()}")
        elif event.get("log_level") is LogLevel.critical and failure is None:
            self.record.breach(f"logged: {event.get('log_format')}")

    def _work(self) -> None:
        """The day with its faults; most come alone, some upon one another."""
        self.invariants.begin()
        self.operators.begin(self.chance.randint(2, 8))
        self.administrators.begin()
        if self.cluster.voting:
            self.failovers.begin()
        plan = self._plan()
        end = self.time.rightNow + DAY
        while not self.record.broken and (at := self.time.next_moment()) is not None and at <= end:
            while plan and self.time.turns >= plan[0]:
                plan.pop(0)
                self.faults.strike()
            self.time.step()
            if self.time.turns % LOOK_EVERY == 0:
                self.invariants.look()
        self.faults.lift()
        self.time.calm = True

    def _plan(self) -> list[int]:
        """The turns at which something goes wrong."""
        begin = self.time.turns
        turns = [begin + self.chance.randrange(TURNS) for _ in range(self.chance.choice([0, 1, 1, 2, 3, 5]))]
        together = [turn + self.chance.choice([0, 1, 3, 10, 40]) for turn in turns if self.chance.random() < 0.4]
        return sorted(turns + together)

    def _pass(self, seconds: float) -> None:
        end = self.time.rightNow + seconds
        while not self.record.broken and (at := self.time.next_moment()) is not None and at <= end:
            self.time.step()
            if self.time.turns % LOOK_EVERY == 0:
                self.invariants.look()

    def _ask(self, what: "Deferred[list[int]]", seconds: float) -> None:
        """Jobs that must be accepted, and succeed within so many seconds."""
        taken: list[int] = []
        what.addCallbacks(taken.extend, self._refused)
        self._pass(seconds)
        for job_id in [] if self.record.broken else taken:
            job = Quiescence(self.invariants, set()).job(job_id)
            if job is None or job.status != "success":
                results = job and [str(op.status) if op.result is None else op.result for op in job.ops]
                self.record.breach(f"new job {job_id} does not succeed: {results}")

    def _come_to_rest(self) -> None:
        self._pass(max(SETTLE, self.faults.waited_for - self.time.rightNow))
        if not self.record.broken and self.administrators.acted:
            self._ask(Deferred.fromCoroutine(self.administrators.let_run()), PROBE)
            self._ask(Deferred.fromCoroutine(self.administrators.welcome()), PROBE)
        self._pass(REST)
        rest = self._rest()
        if not self.record.broken:
            self.invariants.look()
            rest.check()
        if not self.record.broken:
            self._probe()
        if not self.record.broken:
            rest.check()

    def _probe(self) -> None:
        """New jobs succeed: every instance can be removed, others can be made."""
        names = sorted(instance.name for instance in self.cluster.config.instances.values())
        jobs = [[self.operators.opcode("OP_INSTANCE_REMOVE", instance_name=name)] for name in names]
        # the minors of mirrored disks that a job has told it left on a node are not free before somebody removes them there
        templates = WITHOUT_MINORS if self._rest().tells_of_leftovers() else TEMPLATES
        jobs += [[self.operators.creation("web5", self.seed % 3 + 1, templates)]]
        jobs += [[self.operators.tagging()]]
        self._ask(Deferred.fromCoroutine(self.operators.submit(*jobs)), PROBE)

    def _refused(self, failure: Any) -> None:
        failure.trap(GanetiError)
        self.record.breach(f"new jobs are refused: {failure.getErrorMessage()}")

    def _ends(self) -> Counter[str]:
        """How the jobs ended."""
        found = (Quiescence(self.invariants, set()).job(job_id) for job_id in self.operators.accepted)
        return Counter(str(job.status) for job in found if job is not None)


def live(seed: int, show: Callable[[str], None] | None = None, changes: bool = False) -> Outcome:
    """The life of one seed's cluster."""
    return Life(seed, show, changes).live()
