"""What the units have in common that bring an instance to another node."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level
from ganeti_tx.logic.disks.replacing import Replacing
from ganeti_tx.logic.instance.moves.cleaning_up import CleaningUp
from ganeti_tx.logic.instance.moves.destination import Destination
from ganeti_tx.logic.instance.moves.failing_over import FailingOver
from ganeti_tx.logic.instance.moves.leaving import Leaving
from ganeti_tx.logic.instance.moves.move import Move, is_mirrored, placed
from ganeti_tx.logic.instance.moves.new_pair import NewPair
from ganeti_tx.logic.instance.unit import InstanceUnit
from ganeti_tx.logic.instance.user_down import UserDown, seen_if_told
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_place import OpInstanceFailover, OpInstanceMigrate

MoveOp = TypeVar("MoveOp", bound=OpInstanceFailover | OpInstanceMigrate)


class MoveUnit(InstanceUnit[MoveOp]):
    """Finds the destination, and tells hooks of both nodes."""

    #: As messages call it: "failovers", "failed over".
    doing: ClassVar[str]
    done: ClassVar[str]

    destination: Destination
    user_down: UserDown
    move: Move
    _ended: bool = False

    async def expand_names(self) -> None:
        """Which instance, and where to."""
        await super().expand_names()
        self.destination = Destination(self, self.context.locks, self.op, self.doing, self.done, looks=self.op.cleanup)
        await self.destination.find(await self.config.instance_view(self._named.uuid))

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The instance, then where it is and may go."""
        if level is Level.INSTANCE:
            return await super().locks_at(level)
        return self.destination.locks_at(level) if level in (Level.NODE_ALLOC, Level.NODE) else ()

    async def check(self) -> None:
        """One that its user has shut down is cleared away first, but where it is only looked for."""
        await super().check()
        seen = None if self.op.cleanup else await seen_if_told(self.nodes, self.target)
        self.user_down = UserDown.of(self, self.context.steps, self.target, seen)
        self.target = self.user_down.after

    async def look_for_it(self) -> tuple[CleaningUp, Move]:
        """Where the instance really is, for --cleanup. @raise OpPrereqError: nobody can tell, or it is in two places."""
        candidates = list(self.destination.candidates)
        work = CleaningUp(self, self.target, candidates, self.destination.elsewhere, self.destination.named)
        await work.look()
        others = [node for node in candidates if node.uuid != self.target.primary.uuid]
        node = work.home if work.home in others else (others or [self.target.primary])[0]
        return work, Move(self.target, placed(self.target, node, await self.config.group(node.group)))

    def failing_over(self, shutdown_timeout: float, *, ignore_consistency: bool, waits: bool) -> FailingOver | NewPair:
        """The way of a failover. @param waits: see `NewPair`."""
        kept = self.destination.kept
        if kept is None:
            active = self.user_down.before.instance.disks_active
            return FailingOver(self, self.move, shutdown_timeout, ignore_consistency, self.context.steps, active)
        leaving = Leaving(self, self.move, shutdown_timeout, ignore_consistency)
        return NewPair(self.replacing(), leaving, kept, waits)

    def replacing(self) -> Replacing:
        """All its disks, of which one copy goes elsewhere."""
        return Replacing(self, self.context, self.target, range(len(self.target.disks)), early_release=False)

    async def hook_values(self) -> Mapping[str, object]:
        """With both nodes; the old one is the primary one at the time, as Ganeti tells it."""
        move = self.move
        return {
            **await super().hook_values(),
            "OLD_PRIMARY": self.target.primary.name,
            "NEW_PRIMARY": move.target.name,
            "OLD_SECONDARY": second(move.before),
            "NEW_SECONDARY": second(move.after),
        }

    async def read_again(self) -> None:
        """From now on its old node is told, too."""
        await super().read_again()
        self._ended = True

    async def object_nodes(self) -> Sequence[Node]:
        """The target and the secondary nodes; in the end also where it was."""
        return [*self.move.others, *([self.move.source] if self._ended else [])]


def second(view: InstanceView) -> str:
    """The name of the node of the copies that the cluster keeps, if it does."""
    return view.secondaries[0].name if is_mirrored(view) and view.secondaries else ""
