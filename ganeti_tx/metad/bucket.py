"""How fast one guest may ask."""

from attrs import define

#: Requests at once, and a second. A guest that reads everything, item by item, needs about fifty.
MOST, RATE = 200.0, 20.0


@define
class Bucket:
    """Holds what may still be asked at once; it fills again with time."""

    left: float = MOST
    _since: float = 0.0

    def take(self, now: float) -> bool:
        """Ask once more. @param now: seconds on any clock that goes on."""
        self.left = min(MOST, self.left + max(0.0, now - self._since) * RATE)
        self._since = now
        if self.left < 1:
            return False
        self.left -= 1
        return True
