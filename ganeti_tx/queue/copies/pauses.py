"""Pauses between tries that grow, for each of several nodes."""

from collections.abc import Callable, Collection

from attrs import define, field
from twisted.internet.interfaces import IDelayedCall, IReactorTime

#: Seconds until the first try again, doubled each time up to the second number: so soon is a node that comes back after
#: hours one that may become the master.
FIRST_PAUSE = 5.0
LAST_PAUSE = 30.0


@define
class Pauses:
    """Calls `again` with a name when its pause is over."""

    clock: IReactorTime
    again: Callable[[str], None]
    _failures: dict[str, int] = field(factory=dict)
    _waiting: dict[str, IDelayedCall] = field(factory=dict)

    def begin(self, name: str) -> None:
        """It failed (again); while a pause goes on nothing changes."""
        if name in self._waiting:
            return
        failures = self._failures.get(name, 0)
        self._failures[name] = failures + 1
        pause = min(FIRST_PAUSE * 2.0 ** min(failures, 16), LAST_PAUSE)
        self._waiting[name] = self.clock.callLater(pause, self._over, name)

    def _over(self, name: str) -> None:
        del self._waiting[name]
        self.again(name)

    def __contains__(self, name: str) -> bool:
        """Whether a pause goes on."""
        return name in self._waiting

    def end(self, name: str) -> None:
        """It succeeded: the next pause is a short one."""
        self._failures.pop(name, None)
        self.cut(name)

    def cut(self, name: str) -> None:
        """No need to wait any longer."""
        if (waiting := self._waiting.pop(name, None)) is not None:
            waiting.cancel()

    def keep(self, names: Collection[str]) -> None:
        """The others are gone; when one comes back it starts anew."""
        for name in self._failures.keys() - set(names):
            self.end(name)

    def stop(self) -> None:
        """Nothing is called any more."""
        for name in list(self._waiting):
            self.cut(name)
