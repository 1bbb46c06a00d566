"""A job that is run with units that the test writes, in memory."""

from collections.abc import Callable, Sequence
from typing import Any

from attrs import field, frozen
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.reservations import Reservations
from ganeti_tx.errors import (
    ConfigurationError,
    decode_error,
    error_text,
)
from ganeti_tx.jobs.execute import JobRun
from ganeti_tx.jobs.journal import Journal
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import LockRequest, Owner
from ganeti_tx.locking.levels import BGL, Level, Lock, Mode
from ganeti_tx.locking.owner_locks import OwnerLocks
from ganeti_tx.locking.table import LockTable
from ganeti_tx.logic.master_state import MasterState
from ganeti_tx.logic.plan import Plan
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import Disclosure, OpCode, OpTestDelay, encode
from ganeti_tx.model.remote_moves import DomainSecret
from ganeti_tx.queue.job import QueuedJob, QueuedOp, decode_job
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.test.config.stores import config_of, loaded
from ganeti_tx.test.fakes.files import MemoryFiles

OWNER = Owner(7, "/livelocks/job_1")
RIVAL = Owner(8, "/livelocks/job_2")
NODE = Lock(Level.NODE, "node-uuid")
PATH = Paths().job_file(7)

Work = Callable[["Unit"], Any]


class Unit(LogicalUnit[OpTestDelay]):
    """Takes one node's lock; what it does is the test's."""

    works: list[Work]
    steps: Plan = ()

    def plan(self) -> Plan:
        """What the test says."""
        return self.steps

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The node."""
        return [LockRequest(NODE, Mode.EXCLUSIVE)] if level is Level.NODE else ()

    async def execute(self) -> Any:
        """The next piece of work."""
        result = self.works.pop(0)(self)
        return await result if isinstance(result, Deferred) else result


class TalkingUnit(Unit):
    """Says that it looked something up."""

    async def expand_names(self) -> None:
        """Say it."""
        self.info("looked up")


def raise_it(error: BaseException) -> Work:
    """Work that fails."""

    def work(unit: Unit) -> Any:
        raise error

    return work


class LocksThatStay(OwnerLocks):
    """WConfD is gone when the locks are to be released for the last time."""

    async def release_all(self) -> None:
        """Fails while anything is held."""
        if await self.held():
            raise ConfigurationError("WConfD is away")


@frozen
class LocksThatCount(OwnerLocks):
    """Keeps what was held each time when WConfD was asked to release."""

    releases: list[int] = field(factory=list)

    async def release_all(self) -> None:
        """Once more."""
        self.releases.append(len(await self.held()))
        await super().release_all()


class LocksWithoutPriorities(OwnerLocks):
    """WConfD is gone when a wait is to have another priority."""

    async def set_priority(self, priority: int) -> None:
        """Fails."""
        raise ConfigurationError("WConfD is away")


class JobRunCase(SynchronousTestCase):
    """JobRun with units that the test writes."""

    def setUp(self) -> None:
        """A configuration, free locks, nothing done yet."""
        self.clock = Clock()
        self.slot_answers: list[bool] = []
        self.asked: list[int] = []
        self.submitted: list[OpCode] = []
        self.files = MemoryFiles()
        self.store = loaded(self.files)
        self.files.mkdir(PATH.parent)
        self.table = DeferredLocks(LockTable(), self.clock)
        self.locks = OwnerLocks(self.table, OWNER)

    def job(self, *works: Work, ops: Sequence[Any] | None = None, steps: Plan = ()) -> JobRun:
        """A job with an opcode for each piece of work."""
        kind = type("TestUnit", (Unit,), {"works": list(works), "steps": steps})
        opcodes = ops or [OpTestDelay(duration=0.0) for _ in works]
        job = QueuedJob(
            id=7,
            ops=[QueuedOp(input=encode(op, Disclosure.STORED)) for op in opcodes],
            livelock=OWNER.livelock,
            process_id=1,
        )
        return JobRun(
            journal=Journal(job, PATH, self.files, self.replicate, self.clock.seconds, self.clock),
            units={OpTestDelay: kind},
            config=config_of(self.store, Reservations()),
            locks=self.locks,
            nodes=None,  # type: ignore[arg-type]
            clock=self.clock,
            now=self.clock.seconds,
            submit_jobs=self.submit,
            resolve=self.resolve,
            ping=self.ping,
            queue_faults=list,
            listed_files=list,
            group_scopes=dict,
            allocator_fault=lambda name: None,
            master_state=MasterState(lambda: False, lambda: None),
            domain_secret=lambda: DomainSecret("shared"),
            may_go_on=self.may_go_on,
        )

    async def replicate(self, files: dict[str, bytes]) -> None:
        """There are no candidates."""

    async def submit(self, jobs: Sequence[Sequence[OpCode]]) -> list[tuple[bool, Any]]:
        """They are taken."""
        self.submitted += [op for ops in jobs for op in ops]
        return [(True, 8) for _ in jobs]

    async def may_go_on(self, priority: int) -> bool:
        """What luxid says: the next of `slot_answers`, then that nobody waits."""
        self.asked.append(priority)
        return self.slot_answers.pop(0) if self.slot_answers else True

    async def ping(self, address: str) -> bool:
        """No unit here asks for addresses."""
        raise AssertionError(address)

    async def resolve(self, name: str) -> tuple[str, str]:
        """No unit here resolves names."""
        raise AssertionError("nobody asked for it")

    def stop(self, run: JobRun) -> None:
        """Ask a job to stop; it takes note at once."""
        self.successResultOf(Deferred.fromCoroutine(run.stop()))

    def run_job(self, *works: Work) -> QueuedJob:
        """Run a job to its end; what its file then holds."""
        self.successResultOf(Deferred.fromCoroutine(self.job(*works).run()))
        return self.on_disk()

    def on_disk(self) -> QueuedJob:
        """The job's file."""
        return decode_job(self.files.read(PATH, 10**6))

    def error(self, index: int) -> str:
        """The text of an opcode's error."""
        return error_text(decode_error(self.on_disk().ops[index].result))

    def rival_holds(self) -> None:
        """Somebody else has the node."""
        self.successResultOf(
            self.table.update(RIVAL, [LockRequest(BGL, Mode.SHARED), LockRequest(NODE, Mode.EXCLUSIVE)])
        )
