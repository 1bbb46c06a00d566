"""Waiting for something to happen, for a time."""

from typing import Any

from attrs import define, field
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime


@define(eq=False)
class Condition:
    """Wakes all who wait. Cancelling leaves without a trace."""

    clock: IReactorTime
    _waiting: list["Deferred[None]"] = field(factory=list)

    @property
    def is_waited_for(self) -> bool:
        """Whether anybody waits."""
        return bool(self._waiting)

    def notify_all(self) -> None:
        """Wake them; those who wait again wait for the next time."""
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            each.callback(None)

    def wait(self, limit: float) -> "Deferred[None]":
        """Fires when it is notified next, or after so many seconds."""
        waiter: Deferred[None] = Deferred(canceller=self._forget)
        self._waiting.append(waiter)
        alarm = self.clock.callLater(limit, self._time_is_up, waiter)

        def disarm(result: Any) -> Any:
            if alarm.active():
                alarm.cancel()
            return result

        return waiter.addBoth(disarm)

    def _time_is_up(self, waiter: "Deferred[None]") -> None:
        self._forget(waiter)
        waiter.callback(None)

    def _forget(self, waiter: "Deferred[None]") -> None:
        if waiter in self._waiting:
            self._waiting.remove(waiter)
