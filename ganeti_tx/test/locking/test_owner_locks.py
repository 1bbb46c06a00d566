"""ILocks for one owner, over the lock table in the same process."""

from collections.abc import Coroutine
from typing import TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import LockError
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import AttemptFailed, ILocks, LockRequest, Owner
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.locking.owner_locks import OwnerLocks
from ganeti_tx.locking.table import LockTable

Result = TypeVar("Result")

A = Lock(Level.NODE, "a")
B = Lock(Level.NODE, "b")
ONE, TWO = Owner(1, "/livelocks/1"), Owner(2, "/livelocks/2")


class OwnerLocksTests(SynchronousTestCase):
    """ILocks for one owner."""

    def setUp(self) -> None:
        self.clock = Clock()
        shared = DeferredLocks(LockTable(), self.clock)
        self.mine, self.others = OwnerLocks(shared, ONE), OwnerLocks(shared, TWO)

    def run_now(self, coroutine: Coroutine[Deferred[object], object, Result]) -> Result:
        """The result of what need not wait."""
        return self.successResultOf(Deferred.fromCoroutine(coroutine))

    def test_interface(self) -> None:
        """It is what jobs use."""
        verifyObject(ILocks, self.mine)

    def test_each_owner_has_his_own(self) -> None:
        """What one takes, the other does not hold; each call is bound to its owner."""
        self.run_now(self.mine.update([LockRequest.shared(A), LockRequest.exclusive(B)]))
        self.assertEqual(
            self.run_now(self.others.opportunistic_union([LockRequest.shared(A), LockRequest.shared(B)])), {A}
        )
        self.assertEqual(self.run_now(self.mine.held()), {A: Mode.SHARED, B: Mode.EXCLUSIVE})
        self.assertEqual(self.run_now(self.others.held()), {A: Mode.SHARED})
        self.run_now(self.mine.intersect([B]))
        self.run_now(self.mine.remove(B))
        self.assertEqual(self.run_now(self.mine.held()), {})

    def test_wait_priority_release(self) -> None:
        """Waiting, moving in the queue, time-out and release work through the seam."""
        self.run_now(self.mine.update([LockRequest.exclusive(A)]))
        waiting = Deferred.fromCoroutine(self.others.update([LockRequest.exclusive(A)], 5, 30.0))
        self.run_now(self.others.set_priority(-5))
        self.assertNoResult(waiting)
        self.clock.advance(30)
        self.failureResultOf(waiting, AttemptFailed)
        waiting = Deferred.fromCoroutine(self.others.update([LockRequest.exclusive(A)]))
        self.run_now(self.mine.release_all())
        self.successResultOf(waiting)

    def test_errors(self) -> None:
        """A violation of the order reaches the awaiting job as LockError."""
        self.run_now(self.mine.update([LockRequest.exclusive(B)]))
        self.failureResultOf(Deferred.fromCoroutine(self.mine.update([LockRequest.shared(A)])), LockError)
        self.failureResultOf(Deferred.fromCoroutine(self.others.remove(A)), LockError)
