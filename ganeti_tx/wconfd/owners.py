"""Owners that have died lose their locks and what they reserved (daemons.txt, Job death detection)."""

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
INTERVAL = 5.0


@attrs.define(eq=False)
class Owners:
    """Looks at livelocks from time to time, and whenever somebody has to wait for a lock."""

    _locks: DeferredLocks
    _reservations: Reservations
    _liveness: ILiveness
    _livelock_dir: Path
    _log: Logger = attrs.field(factory=Logger, init=False)
    _looking: LoopingCall | None = attrs.field(default=None, init=False)

    def start(self, clock: IReactorTime) -> None:
        """Look now, and again and again."""
        self._looking = LoopingCall(self.bury)
        self._looking.clock = clock
        looking: Deferred[LoopingCall] = self._looking.start(INTERVAL, now=True)
        looking.addErrback(lambda failure: self._log.failure("nobody looks for dead jobs any more", failure=failure))

    def stop(self) -> None:
        """Do not look any more."""
        if self._looking is not None and self._looking.running:
            self._looking.stop()

    def is_alive(self, owner: Owner) -> bool:
        """Whether a process holds the owner's livelock."""
        return self._liveness.is_alive(Path(owner.livelock))

    def bury(self) -> None:
        """Take from the dead what they have."""
        known = {(owner.job_id, owner.livelock) for owner in self._locks.owners()} | self._reservations.owners()
        alive = {livelock: self._liveness.is_alive(Path(livelock)) for livelock in {livelock for _, livelock in known}}
        for job_id, livelock in sorted(known):
            if not alive[livelock]:
                self._log.warn("job {job} has died; its locks are free", job=job_id)
                self._locks.owner_died(Owner(job_id, livelock))
                self._reservations.drop((job_id, livelock))
        if not all(alive.values()):
            self._liveness.remove_stale(self._livelock_dir)
