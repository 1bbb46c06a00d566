"""The server's end of the WConfD protocol by itself."""

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import LockError
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import Owner
from ganeti_tx.locking.table import LockTable
from ganeti_tx.wconfd.protocol.own_methods import MANY_PROCESSES, OwnMethods
from ganeti_tx.wconfd.protocol.server import WconfDispatch

PROCESS = "/livelocks/job_1"


class OrderTests(SynchronousTestCase):
    """What is remembered of the order of requests."""

    def setUp(self) -> None:
        self.looks = 0
        locks = DeferredLocks(LockTable(), Clock())
        own = OwnMethods(locks, self.saved, self.is_alive, lambda: None)
        self.dispatch = WconfDispatch(self.no_config, own, self.saved)

    def no_config(self, owner: Owner) -> IConfig:
        """Nobody asks for it."""
        raise AssertionError(owner)

    async def saved(self, timeout: float | None) -> None:
        """At once."""

    def is_alive(self, owner: Owner) -> bool:
        """All live."""
        self.looks += 1
        return True

    def update(self, job_id: int, number: int, mode: str = "shared", process: str = PROCESS) -> "Deferred[object]":
        """A job takes a lock."""
        return Deferred.fromCoroutine(
            self.dispatch("UpdateLocks", [(job_id, process), number, [("cluster/BGL", mode)], 0, None], None)
        )

    def release(self, job_id: int, number: int) -> None:
        """A job has no locks any more."""
        self.successResultOf(Deferred.fromCoroutine(self.dispatch("FreeLocks", [(job_id, PROCESS), number], None)))

    def test_many_jobs_of_one_process(self) -> None:
        """A process may have run very many jobs: its next one costs no more than its first."""
        jobs = MANY_PROCESSES + 100
        for job_id in range(1, jobs):
            self.successResultOf(self.update(job_id, 2 * job_id))
            self.release(job_id, 2 * job_id + 1)
        self.looks = 0
        self.successResultOf(self.update(jobs, 2 * jobs))
        self.assertEqual(self.looks, 1)

    def test_update_of_the_job_before(self) -> None:
        """A request that was given up and comes after those of the process's next job takes nothing."""
        self.release(1, 2)
        self.successResultOf(self.update(2, 3))
        self.failureResultOf(self.update(1, 1), LockError)

    def test_asked_again(self) -> None:
        """A request that is sent again takes the place of the first, which is refused; one that hangs up is just gone."""
        self.successResultOf(self.update(9, 1, "exclusive", "/livelocks/job_9"))
        first, again = self.update(1, 1), self.update(1, 1)
        self.failureResultOf(first, LockError)
        self.assertNoResult(again)
        again.cancel()
        self.failureResultOf(again, CancelledError)
