"""Equal things one after the other, others at the same time."""

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from attrs import define, field
from twisted.internet.defer import Deferred


@define
class KeyedLock:
    """Who waits, for each key that somebody holds."""

    _waiting: dict[Hashable, list[Deferred[None]]] = field(factory=dict, init=False, repr=False)

    @asynccontextmanager
    async def held(self, key: Hashable) -> AsyncIterator[None]:
        """Wait until nobody else holds an equal key, and hold it."""
        while key in self._waiting:
            waiting: Deferred[None] = Deferred()
            self._waiting[key].append(waiting)
            await waiting
        self._waiting[key] = []
        try:
            yield
        finally:
            for each in self._waiting.pop(key):  # not each from the one before: hundreds would nest too deep
                if not each.called:  # else it was cancelled
                    each.callback(None)
