"""Migrating an instance."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.disks.new_secondary import NewSecondary
from ganeti_tx.logic.hook import Hook
from ganeti_tx.logic.instance.moves.checks import check_room, check_target
from ganeti_tx.logic.instance.moves.cleaning_up import CleaningUp
from ganeti_tx.logic.instance.moves.failing_over import FailingOver
from ganeti_tx.logic.instance.moves.kept import check_third
from ganeti_tx.logic.instance.moves.known_sides import check_encrypts
from ganeti_tx.logic.instance.moves.migrating import Migrating
from ganeti_tx.logic.instance.moves.move import Move
from ganeti_tx.logic.instance.moves.new_pair import NewPair
from ganeti_tx.logic.instance.moves.running import MARKED_DOWN, check_copies, check_passenger, why_not_running
from ganeti_tx.logic.instance.moves.third import MigratingToThird
from ganeti_tx.logic.instance.moves.unit import MoveUnit
from ganeti_tx.logic.instance.moves.with_disks import MigratingWithDisks
from ganeti_tx.logic.plan import Plan
from ganeti_tx.logic.questions import check_online
from ganeti_tx.logic.ratios import warn_of_ratios
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.hooks import HookObject
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.instance_place import OpInstanceMigrate
from ganeti_tx.model.opcodes.types import DEFAULT_SHUTDOWN_TIMEOUT, MigrationMode


class LUInstanceMigrate(MoveUnit[OpInstanceMigrate]):
    """Bring the running instance to another node; fail it over where that is allowed and it does not run."""

    hook = Hook(
        "instance-migrate",
        HookObject.INSTANCE,
        asked={"MIGRATE_CLEANUP": "cleanup", "ALLOW_RUNTIME_CHANGES": "allow_runtime_changes"},
    )
    doing = "migrations"
    done = "migrated"

    _work: Migrating | MigratingToThird | FailingOver | NewPair | CleaningUp
    _live: bool

    async def expand_names(self) -> None:
        """See `MoveUnit`."""
        if self.op.live is not None and self.op.mode is not None:
            raise OpPrereqError("Only one of the 'live' and 'mode' parameters are accepted", ECode.INVAL)
        await super().expand_names()

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """Both nodes' resources for itself, too: there is one port for migrations on each node."""
        if level is Level.NODE_RES:
            return self.destination.locks_at(level, Mode.EXCLUSIVE)
        return await super().locks_at(level)

    async def check(self) -> None:
        """The instance runs, the target is well, and has what the instance needs."""
        await super().check()
        self._live = self._is_live()
        if self.op.cleanup:
            self._work, self.move = await self.look_for_it()
            return
        if down := self.op.allow_failover and self.instance.admin_state is not AdminState.UP:
            self._tell_fallback(MARKED_DOWN)  # before an allocator is asked
        self.move = move = await self.destination.decide(self.target)
        await check_target(self.nodes, move, ignore_policy=self.op.ignore_ipolicy, warn=self.warn)
        await warn_of_ratios(self, move.after, ignored=self.op.ignore_ipolicy)
        if (reason := await self._why_failover()) is not None:
            if not down:
                self._tell_fallback(reason)
            work = self.failing_over(DEFAULT_SHUTDOWN_TIMEOUT, ignore_consistency=False, waits=False)
            await work.check()
            self._work = work
        elif self.move.copies:
            await check_room(self, self.move)
            self._work = await self._migrating(move, MigratingWithDisks)
        elif self.destination.kept is None:
            await check_copies(self.nodes, move)
            self._work = await self._migrating(move)
        else:
            self._work = await self._to_third(self.destination.kept)

    def _tell_fallback(self, reason: str) -> None:
        self.info(f"- INFO: {reason}, fallback allowed, switching to failover")

    def _is_live(self) -> bool:
        if self.op.live is not None:
            return self.op.live
        default = self.target.spec().hvparams.get("migration_mode", MigrationMode.LIVE.value)
        return (self.op.mode or MigrationMode(default)) is MigrationMode.LIVE

    async def _why_failover(self) -> str | None:
        """@raise OpPrereqError: it cannot be migrated, and may not be failed over."""
        if not self.op.allow_failover or not self.move.source.offline:
            check_online(self.move.source, f"migrate instance {self.instance.name}; use failover")
            reason = await why_not_running(self.nodes, self.move)
        else:
            reason = "Primary node is offline"
        if reason is not None and not self.op.allow_failover:
            raise OpPrereqError(
                f"Can't migrate, please use failover: Instance {self.instance.name} is not running"
                if "always_failover" not in reason
                else f"Can't migrate, please use failover: {reason}",
                ECode.STATE,
            )
        return reason

    async def _migrating(self, move: Move, kind: type[Migrating] = Migrating) -> Migrating:
        await check_encrypts(self.nodes, move)
        passenger = await check_passenger(
            self.nodes, move, may_shrink=self.op.allow_runtime_changes, any_version=self.op.ignore_hvversions
        )
        return kind(
            self,
            self.context.steps,
            self.context.safe_points,
            move,
            (await self.config.cluster()).cluster_name,
            self._live,
            passenger.info,
            passenger.memory,
            passenger.reduced,
        )

    async def _to_third(self, kept: Node) -> MigratingToThird:
        """@raise OpPrereqError: its primary node does not stay, and nobody could send it while it is filled."""
        move = self.move
        if kept.uuid != move.source.uuid:
            raise OpPrereqError(
                f"instance {move.name} can be migrated to node {move.target.name} only if its primary node"
                f" {move.source.name} keeps its copy; to keep that on node {kept.name}, use failover",
                ECode.INVAL,
            )
        await check_third(self, self.target, move.target, kept)
        paired = replace(move.after, instance=self.instance)
        copying = NewSecondary(self.replacing(), move.target, paired)
        await copying.check()
        return MigratingToThird(copying, await self._migrating(Move(paired, move.after)))

    async def hook_values(self) -> Mapping[str, object]:
        """And whether its guest goes on meanwhile."""
        return {**await super().hook_values(), "MIGRATE_LIVE": self._live}

    async def object_nodes(self) -> Sequence[Node]:
        """Both nodes, before and after."""
        return [self.move.source, *self.move.others]

    def plan(self) -> Plan:
        """See what it does."""
        return [*self.user_down.plan(), *self._work.plan()]

    async def execute(self) -> None:
        """Do it."""
        await self.user_down.clear()
        await self._work.run()
