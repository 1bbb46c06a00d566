"""What jobs really did: each execution of an opcode, with the locks that it was sure to hold."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from attrs import define, evolve, field

from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.levels import Lock, Mode
from ganeti_tx.logic.registry import UNITS
from ganeti_tx.logic.unit import LogicalUnit, UnitContext
from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.test.inprocess.chaos.record import Record
from ganeti_tx.test.inprocess.mirrors import TEMPLATES


@define(eq=False)
class Execution:
    """One execution; `index` is the opcode's in its job. It ends only if its process lives so long.

    `known_to` are the nodes whose copy of the job said then that it had this process.
    """

    node: str
    owner: Owner
    index: int
    op: OpCode
    locks: Mapping[Lock, Mode]
    at: float
    done: bool = False
    succeeded: bool = False
    known_to: set[str] = field(factory=set)

    @property
    def key(self) -> tuple[int, int]:
        """Which opcode of which job."""
        return self.owner.job_id, self.index

    def __str__(self) -> str:
        return f"{self.op.op_id()} of job {self.owner.job_id}"


@define(eq=False)
class Executions:
    """All of them in the order in which they began."""

    record: Record
    held: Callable[[str, Owner], Mapping[Lock, Mode]]
    who_knows: Callable[[int, str], set[str]]
    all: list[Execution] = field(factory=list)

    def units_of(self, node: str, livelock: str) -> "WatchedUnits":
        """The logical units as one process on a node knows them."""
        return WatchedUnits(self, node, livelock)

    def begin(self, node: str, livelock: str, op: OpCode, job_id: int) -> Execution:
        """A job starts to change things."""
        owner = Owner(job_id, livelock)
        index = int(op.reason[-1][1].rpartition("index=")[2])
        execution = Execution(node, owner, index, op, dict(self.held(node, owner)), self.record.time.rightNow)
        execution.known_to = self.who_knows(job_id, livelock)
        if any(each.key == execution.key and (each.node == node or node in each.known_to) for each in self.all):
            self.record.breach(f"{execution} is executed a second time")
        self.all.append(execution)
        self.record.tell(f"{execution} begins")
        return execution

    def of(self, job_id: int, index: int) -> Execution | None:
        """What an opcode did, if it was begun; the last time, if a new master did not know."""
        return next((each for each in reversed(self.all) if each.key == (job_id, index)), None)


@define
class WatchedUnits(Mapping[type[OpCode], type[LogicalUnit[Any]]]):
    """The table of logical units, whose executions are written down."""

    executions: Executions
    node: str
    livelock: str

    def __getitem__(self, kind: type[OpCode]) -> Any:
        unit = UNITS[kind]
        return lambda op, context: self._watched(unit(op, evolve(context, templates=TEMPLATES)), context)

    def __iter__(self) -> Iterator[type[OpCode]]:
        return iter(UNITS)

    def __len__(self) -> int:
        return len(UNITS)

    def _watched(self, unit: LogicalUnit[Any], context: UnitContext) -> LogicalUnit[Any]:
        execute: Callable[[], Awaitable[Any]] = unit.execute

        async def watched() -> Any:
            execution = self.executions.begin(self.node, self.livelock, unit.op, context.job_id)
            try:
                result = await execute()
                execution.succeeded = True
                return result
            finally:
                execution.done = True

        setattr(unit, "execute", watched)  # noqa: B010
        return unit
