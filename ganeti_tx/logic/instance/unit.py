"""What the units have in common that act on one existing instance."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Mode
from ganeti_tx.logic.instance.hook_values import instance_values
from ganeti_tx.logic.unit import LogicalUnit, UnitContext
from ganeti_tx.logic.wanted_locks import on_allocation, on_instance, on_nodes
from ganeti_tx.model.enums import AdminState
from ganeti_tx.model.instance import Instance
from ganeti_tx.model.instance_view import InstanceView
from ganeti_tx.model.node import Node
from ganeti_tx.model.opcodes.backup import OpBackupExport, OpBackupPrepare
from ganeti_tx.model.opcodes.instance import (
    OpInstanceConsole,
    OpInstanceReinstall,
    OpInstanceRemove,
    OpInstanceRename,
    OpInstanceSetParams,
)
from ganeti_tx.model.opcodes.instance_disks import (
    OpInstanceActivateDisks,
    OpInstanceDeactivateDisks,
    OpInstanceGrowDisk,
    OpInstanceRecreateDisks,
    OpInstanceReplaceDisks,
)
from ganeti_tx.model.opcodes.instance_place import OpInstanceFailover, OpInstanceMigrate, OpInstanceMove
from ganeti_tx.model.opcodes.instance_state import OpInstanceReboot, OpInstanceShutdown, OpInstanceStartup

DiskOp = (
    OpInstanceActivateDisks
    | OpInstanceDeactivateDisks
    | OpInstanceGrowDisk
    | OpInstanceRecreateDisks
    | OpInstanceReplaceDisks
)
BackupOp = OpBackupExport | OpBackupPrepare
PlaceOp = OpInstanceFailover | OpInstanceMigrate | OpInstanceMove
InstanceOp = TypeVar(
    "InstanceOp",
    bound=OpInstanceConsole
    | OpInstanceReboot
    | OpInstanceReinstall
    | OpInstanceRemove
    | OpInstanceRename
    | OpInstanceSetParams
    | OpInstanceShutdown
    | OpInstanceStartup
    | DiskOp
    | PlaceOp
    | BackupOp,
)


class InstanceUnit(LogicalUnit[InstanceOp]):
    """Takes the instance's lock, then those of its nodes; `target` is the instance as read under the locks."""

    instance_mode: ClassVar[Mode] = Mode.EXCLUSIVE
    #: Whether it acts on instances that are only reserved, too.
    takes_forthcoming: ClassVar[bool] = False
    #: Whether free memory or disk of nodes changes, which an allocator counts on while it chooses.
    changes_room: ClassVar[bool] = True

    target: InstanceView

    def __init__(self, op: InstanceOp, context: UnitContext) -> None:
        super().__init__(op, context)
        self._named: Instance

    @property
    def instance(self) -> Instance:
        """The instance as `check` read it."""
        return self.target.instance

    async def expand_names(self) -> None:
        """Which instance is meant."""
        self._named = await self.config.instance(self.op.instance_uuid or self.op.instance_name)

    async def locks_at(self, level: Level) -> Sequence[LockRequest]:
        """The instance; then, as its place cannot change any more, its nodes."""
        if level is Level.INSTANCE:
            return [on_instance(self._named.name, self.instance_mode)]
        if level is Level.NODE_ALLOC and self.changes_room:
            return [on_allocation()]
        if level is Level.NODE:
            return on_nodes((await self.config.instance_view(self._named.uuid)).nodes, Mode.SHARED)
        return ()

    async def check(self) -> None:
        """The instance is still there, by the name whose lock is held."""
        self.target = await self.config.instance_view(self._named.uuid)
        if self.instance.name != self._named.name:
            raise OpPrereqError(
                f"instance {self._named.name} was renamed to {self.instance.name} meanwhile; ask again", ECode.STATE
            )
        if not self.takes_forthcoming:
            refuse_forthcoming(self.instance)

    async def hook_values(self) -> Mapping[str, object]:
        """The instance, and what was asked for."""
        return {**await super().hook_values(), **instance_values(self.target)}

    async def object_nodes(self) -> Sequence[Node]:
        """Where it is."""
        return list(self.target.nodes.values())

    async def read_again(self) -> None:
        """The instance as it is now."""
        self.target = await self.config.instance_view(self._named.uuid)

    def refuse_offline_state(self) -> None:
        """@raise OpPrereqError: the instance is marked offline."""
        if self.instance.admin_state is AdminState.OFFLINE:
            raise OpPrereqError(
                f"Instance '{self.instance.name}' is marked to be offline, can't use instance from outside down, up states;"
                " 'gnt-instance modify --online' changes that",
                ECode.STATE,
            )


def refuse_forthcoming(instance: Instance) -> None:
    """@raise OpPrereqError: it is only reserved."""
    if instance.forthcoming:
        raise OpPrereqError(
            f"instance {instance.name} is forthcoming: it is only reserved; 'gnt-instance add --commit"
            f" {instance.name}' creates it",
            ECode.STATE,
        )
