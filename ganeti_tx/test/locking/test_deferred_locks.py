"""The Deferred face of the lock table: waiting, time-outs, cancelling, owners that die."""

from collections.abc import Sequence

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import LockError
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import LockRequest, LockTimeout, Owner
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.locking.owner_locks import OwnerLocks
from ganeti_tx.locking.table import LockTable

ONE, TWO, THREE = (Owner(number, f"/livelocks/job_{number}") for number in (1, 2, 3))
WEB = Lock(Level.INSTANCE, "web1")
NODE = Lock(Level.NODE, "node1")


class DeferredLocksTests(SynchronousTestCase):
    """Waiting for locks."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.changes: list[int] = []
        self.locks = DeferredLocks(LockTable(), self.clock, lambda: self.changes.append(1))

    def ask(self, owner: Owner, *locks: Lock, timeout: float | None = None, priority: int = 0) -> "Deferred[None]":
        """Ask for locks exclusively."""
        wanted: Sequence[LockRequest] = [LockRequest.exclusive(lock) for lock in locks]
        return self.locks.update(owner, wanted, priority, timeout)

    def test_free_lock(self) -> None:
        """What is free is granted at once, and the listener hears of it."""
        self.successResultOf(self.ask(ONE, WEB))
        self.assertEqual(self.locks.held(ONE), {WEB: Mode.EXCLUSIVE})
        self.assertEqual(len(self.changes), 1)

    def test_wait(self) -> None:
        """A held lock is waited for, and granted when it comes free."""
        self.successResultOf(self.ask(ONE, WEB))
        waiting = self.ask(TWO, WEB)
        self.assertNoResult(waiting)
        self.locks.release_all(ONE)
        self.successResultOf(waiting)

    def test_time_out(self) -> None:
        """A wait that is over leaves the queue, and what the owner held stays his."""
        self.successResultOf(self.ask(ONE, NODE))
        self.successResultOf(self.ask(TWO, WEB))
        waiting = self.ask(TWO, NODE, timeout=10)
        self.clock.advance(10)
        self.failureResultOf(waiting, LockTimeout)
        self.assertEqual(self.locks.held(TWO), {WEB: Mode.EXCLUSIVE})
        self.locks.release_all(ONE)
        self.assertEqual(self.locks.held(TWO), {WEB: Mode.EXCLUSIVE})

    def test_no_wait(self) -> None:
        """A time limit of nothing does not wait."""
        self.successResultOf(self.ask(ONE, WEB))
        self.failureResultOf(self.ask(TWO, WEB, timeout=0), LockTimeout)

    def test_cancelled_waiter_lets_those_behind_through(self) -> None:
        """Who gives up makes way for those who waited behind him."""
        reader = [LockRequest.shared(WEB)]
        self.successResultOf(self.locks.update(ONE, reader))
        writer = self.ask(TWO, WEB)
        behind = self.locks.update(THREE, reader)
        self.assertNoResult(behind)
        writer.cancel()
        self.failureResultOf(writer, CancelledError)
        self.successResultOf(behind)

    def test_dead_owner(self) -> None:
        """The locks of the dead go to who waits; a dead waiter's Deferred fails."""
        self.successResultOf(self.ask(ONE, WEB))
        waiting, last = self.ask(TWO, WEB), self.ask(THREE, WEB)
        self.locks.owner_died(TWO)
        self.failureResultOf(waiting, LockError)
        self.locks.owner_died(ONE)
        self.successResultOf(last)

    def test_removed_lock(self) -> None:
        """Who waits for a lock whose object is deleted hears which one."""
        self.successResultOf(self.ask(ONE, WEB))
        waiting = self.ask(TWO, WEB)
        self.locks.remove(ONE, WEB)
        self.assertIn("instance/web1", str(self.failureResultOf(waiting, LockError).value))

    def test_order(self) -> None:
        """A lock that comes before one that is held is refused, and both are named."""
        self.successResultOf(self.ask(ONE, NODE))
        error = self.assertRaises(LockError, self.ask, ONE, WEB)
        self.assertIn("instance/web1", str(error))
        self.assertIn("node/node1", str(error))

    def test_one_update_at_a_time(self) -> None:
        """Who waits cannot ask for more."""
        self.successResultOf(self.ask(ONE, WEB))
        self.assertNoResult(self.ask(TWO, WEB))
        self.assertRaises(LockError, self.ask, TWO, NODE)

    def test_priority(self) -> None:
        """A waiter who becomes more urgent is served before those who came earlier."""
        self.successResultOf(self.ask(ONE, WEB))
        first, second = self.ask(TWO, WEB), self.ask(THREE, WEB)
        self.locks.set_priority(THREE, -10)
        self.locks.release_all(ONE)
        self.successResultOf(second)
        self.assertNoResult(first)

    def test_overview(self) -> None:
        """Held and waited-for locks are told with their owners."""
        self.successResultOf(self.ask(ONE, WEB))
        self.assertNoResult(self.ask(TWO, WEB))
        (status,) = self.locks.overview()
        self.assertEqual((status.lock, status.mode, status.owners), (WEB, Mode.EXCLUSIVE, (ONE,)))
        self.assertEqual(status.pending, ((Mode.EXCLUSIVE, (TWO,)),))

    def test_opportunistic_union(self) -> None:
        """What is free is taken, what is not is left, and nobody waits."""
        self.successResultOf(self.ask(ONE, WEB))
        mine = OwnerLocks(self.locks, TWO)
        wanted = [LockRequest.shared(WEB), LockRequest.shared(NODE)]
        taken = self.successResultOf(Deferred.fromCoroutine(mine.opportunistic_union(wanted)))
        self.assertEqual(taken, {NODE})

    def test_intersect(self) -> None:
        """What is not named is released."""
        self.successResultOf(self.ask(ONE, WEB, NODE))
        mine = OwnerLocks(self.locks, ONE)
        self.successResultOf(Deferred.fromCoroutine(mine.intersect([NODE])))
        self.assertEqual(self.locks.held(ONE), {NODE: Mode.EXCLUSIVE})
