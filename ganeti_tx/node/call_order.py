"""Calls that have the same thing for themselves are done one after the other, in the order in which they were sent."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from attrs import define, field
from twisted.internet.defer import DeferredLock

from ganeti_tx.model.stamp import Stamp
from ganeti_tx.node.answers import Method
from ganeti_tx.node.terms import Terms, is_superseded
from ganeti_tx.rpc.calls.base import NodeCall
from ganeti_tx.rpc.refusals import CallTooLate

#: Of so many things the last call is remembered.
MAX_NAMES = 20_000


@define
class CallOrder:
    """The last call for each of several things, by name. Memory is enough: what is on its way to a daemon ends with it."""

    terms: Terms
    _latest: dict[str, Stamp] = field(factory=dict)
    _locks: dict[str, DeferredLock] = field(factory=dict)

    async def perform(self, call: NodeCall[object], method: Method, wanted: Callable[[], bool]) -> Any:
        """Do a call when it has all that it reserves.

        @param wanted: whether its caller still waits; who has given it up may have done something else instead.
        @raise CallRefused: one that was sent later was done before, or nobody waits for this one.
        """
        names = sorted(set(call.reserves()))  # all in one order: no two calls wait for each other
        async with self.held(names):
            if not wanted():
                raise CallTooLate(f"{call.name} is not begun: its caller has given it up")
            self.take(names, call.stamp)
            return await method(call)

    @asynccontextmanager
    async def held(self, names: Sequence[str]) -> AsyncIterator[None]:
        """While this lasts nobody else has any of these. @param names: sorted, so that no two wait for each other."""
        held: list[str] = []
        try:
            for name in names:
                await self._locks.setdefault(name, DeferredLock()).acquire()
                held.append(name)
            yield
        finally:
            for name in held:
                self._release(name)

    def _release(self, name: str) -> None:
        lock = self._locks[name]
        lock.release()  # whoever waits goes on at once, and may be done with it, too
        if not lock.locked and self._locks.get(name) is lock:
            del self._locks[name]

    def take(self, names: Sequence[str], stamp: Stamp | None) -> None:
        """This call for these things is about to be done. A call without a stamp is not ordered.

        @raise CallRefused: one that was sent later was done before, or the same, or a later master is known.
        """
        if stamp is None or not names:
            return
        self.terms.check(stamp)
        for name in names:
            before = self._latest.get(name)
            if before is not None and before.cluster == stamp.cluster and is_late(stamp, before):
                raise CallTooLate(f"the call comes too late: {name} was changed by one that was sent after it")
        for name in names:
            self._latest.pop(name, None)
            self._latest[name] = stamp
        while len(self._latest) > MAX_NAMES:
            del self._latest[next(iter(self._latest))]


def is_late(stamp: Stamp, before: Stamp) -> bool:
    """Whether a stamp is of an earlier master than another, or of the same one and not later."""
    return is_superseded(stamp, before.term, before.master) or (
        stamp.term == before.term and stamp.sequence <= before.sequence
    )
