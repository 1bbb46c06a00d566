"""Connections that are open while nobody uses them."""

from attrs import define, field
from twisted.internet.interfaces import IDelayedCall, IReactorTime

from ganeti_tx.rpc.http.connection import NodeConnection

#: Where connections lead: an address and a port.
Place = tuple[str, int]

#: Connections to one node kept open, and seconds that an unused one stays.
KEPT_CONNECTIONS = 4
KEPT_SECONDS = 60.0


@define(eq=False)
class KeptConnections:
    """A few for each place, each for some time. The one that was used last is used next: it is the likeliest to be good."""

    clock: IReactorTime
    _unused: dict[Place, dict[NodeConnection, float]] = field(factory=dict, init=False)
    _timer: IDelayedCall | None = field(default=None, init=False)
    _closed: bool = field(default=False, init=False)

    def take(self, place: Place) -> NodeConnection | None:
        """One to this place, for its taker alone; None if there is none."""
        there = self._unused.get(place)
        return there.popitem()[0] if there else None

    def keep(self, place: Place, connection: NodeConnection) -> None:
        """Nobody uses it now. There may be enough of them, and it is closed."""
        there = self._unused.setdefault(place, {})
        if self._closed or len(there) >= KEPT_CONNECTIONS:
            connection.abort()
            return
        there[connection] = self.clock.seconds()
        if self._timer is None:
            self._timer = self.clock.callLater(KEPT_SECONDS, self._look)

    def forget(self, place: Place, connection: NodeConnection) -> None:
        """It is closed."""
        self._unused.get(place, {}).pop(connection, None)

    def close_all_to(self, place: Place) -> None:
        """They are of no use."""
        for connection in self._unused.pop(place, ()):
            connection.abort()

    def close(self) -> None:
        """Close all, and those that are in use once they are not."""
        self._closed = True
        self._close_before(self.clock.seconds())
        self._unused.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        """Close those that have not been used for so long; look again when the next one may have been."""
        self._timer = None
        self._close_before(self.clock.seconds() - KEPT_SECONDS)
        since = [began for there in self._unused.values() for began in there.values()]
        if since:
            self._timer = self.clock.callLater(min(since) + KEPT_SECONDS - self.clock.seconds(), self._look)

    def _close_before(self, moment: float) -> None:
        for there in self._unused.values():
            for connection in [each for each, since in there.items() if since <= moment]:
                del there[connection]
                connection.abort()
