"""How late a reactor comes to what is due: something that should not be done in it holds up everybody."""

from collections.abc import Callable

from attrs import define
from twisted.internet.interfaces import IDelayedCall, IReactorTime

#: Seconds between two looks.
LOOK_INTERVAL = 1.0


@define(eq=False)
class ReactorLag:
    """Tells `observe` once a second how many seconds late it was called."""

    clock: IReactorTime
    observe: Callable[[float], None]
    _next: IDelayedCall | None = None

    def start(self) -> None:
        """Look from now on."""
        self._next = self.clock.callLater(LOOK_INTERVAL, self._look, self.clock.seconds() + LOOK_INTERVAL)

    def _look(self, due: float) -> None:
        self.observe(max(self.clock.seconds() - due, 0.0))
        self.start()

    def stop(self) -> None:
        """Look no more."""
        if self._next is not None and self._next.active():
            self._next.cancel()
        self._next = None
