"""Lock requests by the objects they protect: instances go by name, all else by uuid."""

from collections.abc import Iterable

from ganeti_tx.locking.interfaces import ILocks, LockRequest
from ganeti_tx.locking.levels import NAL, Level, Lock, Mode

#: The levels that have a lock for each node.
OF_NODES = (Level.NODE, Level.NODE_RES)


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


async def keep_nodes(locks: ILocks, uuids: Iterable[str], others_may_choose: bool) -> None:
    """When nodes have been chosen: let go of all others, and let those go on that choose none.

    @param others_may_choose: whether others may choose at once, too, as they cannot have the same nodes meanwhile.
    """
    kept = set(uuids)
    held = await locks.held()
    await locks.intersect([lock for lock in held if lock.level not in OF_NODES or lock.name in kept])
    await locks.update([LockRequest.release(NAL) if others_may_choose else LockRequest.shared(NAL)])


async def held_nodes(locks: ILocks) -> set[str]:
    """The uuids of nodes of which all locks are held."""
    held = await locks.held()
    return set.intersection(*({str(lock.name) for lock in held if lock.level is level} for level in OF_NODES))
