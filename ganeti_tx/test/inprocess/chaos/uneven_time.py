"""Time in which nothing takes as long as it should."""

from random import Random

from ganeti_tx.test.inprocess.simulation import SimulatedTime

#: Of so many transits most take about their time; some take much longer, and a few very much.
USUAL, SLOW = 0.7, 0.98
#: How often bytes travel in two pieces.
CUT = 0.05


class UnevenTime(SimulatedTime):
    """Delays come from a seed, so that what is under way at the same time arrives in any order; until it is `calm`."""

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self.calm = False
        self._chance = chance

    def transit(self, seconds: float) -> float:
        """As SimulatedTime says."""
        if self.calm:
            return seconds
        draw = self._chance.random()
        if draw < USUAL:
            return seconds * (0.5 + draw)
        exponent = self._chance.random()
        return seconds * 10 ** (exponent * 1.5 if draw < SLOW else 1 + 2 * exponent)

    def cut(self, data: bytes) -> list[bytes]:
        """As SimulatedTime says."""
        if self.calm or len(data) < 2 or self._chance.random() >= CUT:
            return [data]
        middle = self._chance.randrange(1, len(data))
        return [data[:middle], data[middle:]]
