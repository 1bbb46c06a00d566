"""Lock requests by the objects they protect: instances go by name, all else by uuid."""

from collections.abc import Iterable

from ganeti_tx.locking.interfaces import ILocks, LockRequest
from ganeti_tx.locking.levels import NAL, Level, Lock, Mode


def on_instance(name: str, mode: Mode) -> LockRequest:
    """The lock of one instance."""
    return LockRequest(Lock(Level.INSTANCE, name), mode)


def on_all(level: Level, mode: Mode = Mode.SHARED) -> LockRequest:
    """The lock over a whole level."""
    return LockRequest(Lock.all(level), mode)


def on_nodes(uuids: Iterable[str], mode: Mode, level: Level = Level.NODE) -> list[LockRequest]:
    """The locks of some nodes, at the level of nodes or of their resources."""
    return [LockRequest(Lock(level, uuid), mode) for uuid in sorted(set(uuids))]


def on_allocation(mode: Mode = Mode.SHARED) -> LockRequest:
    """Keeps allocators waiting; shared not one another: for those who change what is free without choosing nodes."""
    return LockRequest(NAL, mode)


async def keep_nodes(locks: ILocks, uuids: Iterable[str]) -> None:
    """When nodes have been chosen: let go of all others, and let those go on that choose none."""
    kept = set(uuids)
    held = await locks.held()
    levels = (Level.NODE, Level.NODE_RES)
    await locks.intersect([lock for lock in held if lock.level not in levels or lock.name in kept])
    await locks.update([LockRequest.shared(NAL)])
