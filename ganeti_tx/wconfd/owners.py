"""Owners that have died lose their locks and what they reserved (daemons.txt, Job death detection).

Those of a job that left something half done stay until the process that takes it back has taken them over.
"""

from collections.abc import Callable
from pathlib import Path

import attrs
from twisted.internet.defer import Deferred
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import LoopingCall
from twisted.logger import Logger

from ganeti_tx.config.reservations import Reservations
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.runtime.livelock import ILiveness

#: Seconds between two looks at everybody who has something.
INTERVAL = 1.0


@attrs.define(eq=False)
class Owners:
    """Looks at livelocks from time to time, whenever somebody has to wait for a lock, and when luxid has seen a death."""

    _locks: DeferredLocks
    _reservations: Reservations
    _liveness: ILiveness
    _livelocks: Path
    _is_unfinished: Callable[[int], bool] = lambda job_id: False
    _log: Logger = attrs.field(factory=Logger, init=False)
    _looking: LoopingCall | None = attrs.field(default=None, init=False)

    def start(self, clock: IReactorTime) -> None:
        """Look now, and again and again."""
        self._looking = LoopingCall(self.release_dead)
        self._looking.clock = clock
        looking: Deferred[LoopingCall] = self._looking.start(INTERVAL, now=True)
        looking.addErrback(lambda failure: self._log.failure("nobody looks for dead jobs any more", failure=failure))

    def stop(self) -> None:
        """Do not look any more."""
        if self._looking is not None and self._looking.running:
            self._looking.stop()

    def is_alive(self, owner: Owner) -> bool:
        """Whether a process holds the owner's livelock; a file outside the livelock directory is nobody's."""
        path = Path(owner.livelock)
        if path.parent != self._livelocks:
            return False
        try:
            return self._liveness.is_alive(path)
        except OSError as error:  # not to know is not to be dead
            self._log.error("cannot look at {path}: {reason}", path=str(path), reason=error.strerror)
            return True

    def release_dead(self) -> None:
        """Free the locks and the reservations of owners that have died."""
        reserving = {Owner(*key) for key in self._reservations.owners()}
        dead = [owner for owner in {*self._locks.owners(), *reserving} if not self.is_alive(owner)]
        for owner in sorted(dead, key=lambda owner: owner.job_id):
            if self._is_unfinished(owner.job_id):
                self._locks.abandon(owner)
                continue
            self._reservations.drop((owner.job_id, owner.livelock))
            self._log.warn("job {job} has died; its locks are free", job=owner.job_id)
            self._locks.owner_died(owner)
        self._remove_livelocks()

    def _remove_livelocks(self) -> None:
        try:
            self._liveness.remove_stale(self._livelocks)
        except OSError as error:
            self._log.error("cannot remove livelocks of dead processes: {error}", error=error)
