"""What every logical unit has, and the order of its steps: expand names, declare locks, check, execute."""

import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, ClassVar, Generic, TypeVar, get_args

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.locking.interfaces import ILocks, LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.hook import Hook, HookAnswers
from ganeti_tx.logic.master_state import MasterState
from ganeti_tx.logic.plan import Plan
from ganeti_tx.logic.safe_points import SafePoints
from ganeti_tx.logic.steps import Steps
from ganeti_tx.model.disk_templates import AVAILABLE
from ganeti_tx.model.enums import DiskTemplate
from ganeti_tx.model.group_scopes import GroupScopes
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.remote_moves import DomainSecret
from ganeti_tx.model.undo import Undo
from ganeti_tx.rpc.interfaces import INodeRpc

Op = TypeVar("Op", bound=OpCode)

#: Takes a log type of luxi's table ("message", ...) and its payload; the line lands in the job file.
Feedback = Callable[[str, Any], None]
#: A host name to its full name and its address. @raise ResolverError: there is no such host.
Resolve = Callable[[str], Awaitable[tuple[str, str]]]

#: Whether a host answers at an address, after some seconds at most.
Ping = Callable[[str], Awaitable[bool]]


async def no_hooks(nodes: Sequence[Node]) -> None:
    """For units that are run by nobody but a test."""


@attrs.frozen
class UnitContext:
    """All that a logical unit may touch; built by the job for each opcode."""

    job_id: int
    config: IConfig
    locks: ILocks
    nodes: INodeRpc
    clock: IReactorTime
    now: Callable[[], float]
    feedback: Feedback
    steps: Steps
    submit_jobs: Callable[[Sequence[Sequence[OpCode]]], Awaitable[list[tuple[bool, Any]]]]
    resolve: Resolve
    ping: Ping
    #: What is wrong in the directory of the job queue, a sentence each.
    queue_faults: Callable[[], Sequence[str]]
    #: The files that the administrator has sent to all nodes; as far as the list can be read.
    listed_files: Callable[[], Collection[str]]
    #: Whom the Remote API keeps to node groups.
    group_scopes: Callable[[], GroupScopes]
    #: Why there is no instance allocator of a name on the master; None when there is one.
    allocator_fault: Callable[[str], str | None]
    master_state: MasterState
    #: What the clusters share that instances move between. @raise OpPrereqError: it cannot be read.
    domain_secret: Callable[[], DomainSecret]
    #: Those that nodes have a driver for.
    templates: Sequence[DiskTemplate] = AVAILABLE
    safe_points: SafePoints = attrs.field(factory=SafePoints)
    #: Runs the unit's hooks of the time after its work at once, on nodes that will not be there any more.
    hooks_before_leaving: Callable[[Sequence[Node]], Awaitable[None]] = no_hooks
    #: Seconds that the thread has computed.
    worked: Callable[[], float] = time.thread_time


class LogicalUnit(ABC, Generic[Op]):
    """One opcode's work. The job calls the four steps in order and holds the locks from the second on.

    A step that finds the request impossible raises OpPrereqError; execution that fails raises OpExecError and undoes what
    it did. Nothing is changed anywhere before `execute`.
    """

    #: Whether the unit needs the cluster for itself; all others hold the big lock shared.
    exclusive_cluster: ClassVar[bool] = False
    #: The scripts around it; without, there are none.
    hook: ClassVar[Hook | None] = None
    #: What it does: the argument of its type; a class for several units has none.
    opcode: ClassVar[type[OpCode]]

    def __init_subclass__(cls) -> None:
        """Reads the opcode off `LogicalUnit[OpInstanceReboot]` or the like."""
        super().__init_subclass__()
        for base in vars(cls).get("__orig_bases__", ()):
            for argument in get_args(base):
                if isinstance(argument, type) and issubclass(argument, OpCode):
                    cls.opcode = argument

    def __init__(self, op: Op, context: UnitContext) -> None:
        self.op = op
        self.context = context
        self.config = context.config
        self.nodes = context.nodes

    async def expand_names(self) -> None:
        """Turn what the user typed into objects; no lock is held, so what is read may change before `check`."""

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The locks wanted at a level; those of the levels before it are held. Called level by level, in order."""
        return ()

    async def locks_if_free_at(self, level: Level) -> Sequence[LockRequest]:
        """More locks of a level, of which those are taken that nobody else has or waits for."""
        return ()

    async def outdated(self) -> str:
        """What has changed while the locks were waited for, so that others are needed; empty when those held are the right ones.

        Asked for when all are held. After an answer they are let go of, and `locks_at` chooses again.
        """
        return ""

    def new_names(self) -> Sequence[str]:
        """What instances are to be called from then on, in full; asked for when all locks are held."""
        return ()

    async def check(self) -> None:
        """Read again under the locks and refuse what cannot be done."""

    def plan(self) -> Plan:
        """The steps that `execute` will take, as `check` found them to be needed; one may turn out not to be."""
        return ()

    @abstractmethod
    async def execute(self) -> Any:
        """Do it; the value is the opcode's result, as its table says."""

    async def hook_values(self) -> Mapping[str, object]:
        """What its hooks are told of the object and the request, names without prefix; asked for after `check`, and when
        all is done.
        """
        asked = self.hook.asked if self.hook is not None else {}
        return {name: getattr(self.op, parameter) for name, parameter in asked.items()}

    async def object_nodes(self) -> Sequence[Node]:
        """The nodes of the object, for its hooks."""
        return ()

    async def read_again(self) -> None:
        """Before `hook_values` is asked when all is done: look how the object is now."""

    def with_hooks(self, result: Any, answers: HookAnswers) -> Any:
        """What the opcode gives, once its hooks after the work have run."""
        return result

    def dry_run_result(self) -> Any:
        """What the opcode gives when it is checked only."""
        return None

    async def carry_out(self) -> Any:
        """Execute it, and take back what was begun when that fails; the job calls this after `check`."""
        self.context.steps.plan = self.plan()
        async with self.context.steps:
            return await self.execute()

    def step(self, title: str, *undos: Undo) -> AbstractAsyncContextManager[None]:
        """The step of the plan with this title; `undos` take back what it does, the last one first."""
        return self.context.steps.step(title, *undos)

    async def pause(self, seconds: float) -> None:
        """Wait; a job that is to stop waits no longer."""
        await self.context.safe_points.wait("a wait", deferLater(self.context.clock, seconds))

    def info(self, message: str) -> None:
        """A line for the operator."""
        self.context.feedback("message", message)

    def warn(self, message: str) -> None:
        """A warning for the operator."""
        self.context.feedback("message", f"- WARNING: {message}")


UnitTable = Mapping[type[OpCode], type[LogicalUnit[Any]]]
