"""The lock that a change of tags takes."""

from collections.abc import Sequence

from ganeti_tx.locking.interfaces import LockRequest
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.logic.wanted_locks import on_instance
from ganeti_tx.model.enums import TagKind
from ganeti_tx.model.opcodes import OpTagsDel, OpTagsSet


async def tag_locks(unit: LogicalUnit[OpTagsSet] | LogicalUnit[OpTagsDel], level: Level) -> Sequence[LockRequest]:
    """The exclusive lock of the one object whose tags change."""
    kind, name = unit.op.kind, unit.op.name
    if kind is TagKind.INSTANCE and level is Level.INSTANCE:
        return (on_instance((await unit.config.instance(name or "")).name, Mode.EXCLUSIVE),)
    if kind is TagKind.NODE and level is Level.NODE:
        return (LockRequest(Lock(level, (await unit.config.node(name or "")).uuid), Mode.EXCLUSIVE),)
    if kind is TagKind.NODEGROUP and level is Level.NODEGROUP:
        return (LockRequest(Lock(level, (await unit.config.group(name or "")).uuid), Mode.EXCLUSIVE),)
    if kind is TagKind.NETWORK and level is Level.NETWORK:
        return (LockRequest(Lock(level, (await unit.config.network(name or "")).uuid), Mode.EXCLUSIVE),)
    return ()


def tagged(kind: TagKind, name: str | None) -> str:
    """The object whose tags change, for a plan."""
    return kind.value if not name else f"{kind.value} {name}"
