"""A daemon's time, shared among the processes that ask it: one that keeps it busy has to pause, so that others are heard.

Requests are carried out in one thread. Whoever has a hundred connections would have a hundred times the time of others.
"""

from attrs import define, field
from twisted.internet.interfaces import IReactorTime

#: While others are connected, one process gets at most this part of the time in the long run.
PART = 0.5
#: No process owes more seconds than this beyond its burst, whatever it did while it was alone.
MOST = 1.0
#: So many processes are remembered before those that owe nothing are forgotten.
REMEMBERED = 1000


@define(eq=False)
class FairShare:
    """How much time each process owes, in seconds; debts shrink as time goes by.

    @ivar burst: seconds of work that a process may ask for before it has to pause.
    """

    clock: IReactorTime
    burst: float
    _debts: dict[int, tuple[float, float]] = field(factory=dict)

    def spent(self, process: int | None, seconds: float) -> None:
        """So much work has been done for a process."""
        if process is None or seconds <= 0:
            return
        self._debts[process] = min(self._debt(process) + seconds, self.burst + MOST), self.clock.seconds()
        if len(self._debts) > REMEMBERED:
            self._debts = {each: debt for each, debt in self._debts.items() if self._debt(each)}

    def pause(self, process: int | None) -> float:
        """For how many seconds a process must pause before its next request."""
        debt = 0.0 if process is None else self._debt(process)
        return max(0.0, debt - self.burst) / PART

    def _debt(self, process: int) -> float:
        debt, since = self._debts.get(process, (0.0, 0.0))
        return max(0.0, debt - PART * (self.clock.seconds() - since))
