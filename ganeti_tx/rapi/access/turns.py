"""Equal things one after the other, others at the same time."""

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from attrs import define, field
from twisted.internet.defer import DeferredLock


@define
class Turns:
    """Whose turn it is, for each key that somebody has a turn for or waits for."""

    _locks: dict[Hashable, DeferredLock] = field(factory=dict, init=False, repr=False)

    @asynccontextmanager
    async def turn(self, key: Hashable) -> AsyncIterator[None]:
        """Wait until nobody else has a turn for an equal key, and have it."""
        lock = self._locks.setdefault(key, DeferredLock())
        await lock.acquire()
        try:
            yield
        finally:
            lock.release()
            if not lock.locked and self._locks.get(key) is lock:
                del self._locks[key]
