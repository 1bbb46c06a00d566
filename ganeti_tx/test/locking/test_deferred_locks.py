"""The Deferred face of the lock table: waiting, time-outs, cancelling, owners that die."""

from collections.abc import Sequence

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.errors import LockError
from ganeti_tx.locking.deferred_locks import DeferredLocks
from ganeti_tx.locking.interfaces import AttemptFailed, ILockOverview, LockRequest, Owner
from ganeti_tx.locking.levels import Level, Lock, Mode
from ganeti_tx.locking.owner_locks import OwnerLocks
from ganeti_tx.locking.table import LockTable

ONE, TWO, THREE = (Owner(number, f"/livelocks/job_{number}") for number in (1, 2, 3))
WEB = Lock(Level.INSTANCE, "web1")
NODE = Lock(Level.NODE, "node1")
A, B = Lock(Level.NODE, "a"), Lock(Level.NODE, "b")


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
        self.failureResultOf(waiting, AttemptFailed)
        self.assertEqual(self.locks.held(TWO), {WEB: Mode.EXCLUSIVE})
        self.locks.release_all(ONE)
        self.assertEqual(self.locks.held(TWO), {WEB: Mode.EXCLUSIVE})

    def test_no_wait(self) -> None:
        """A time limit of nothing does not wait."""
        self.successResultOf(self.ask(ONE, WEB))
        self.failureResultOf(self.ask(TWO, WEB, timeout=0), AttemptFailed)

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


class ListenerAndTimerTests(SynchronousTestCase):
    """What the listener hears, what the clock still holds, and calls from within a callback."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.saved: list[int] = []
        self.table = LockTable()
        self.locks = DeferredLocks(self.table, self.clock, self.save)

    def save(self) -> None:
        """Note how many owners hold something at each change."""
        self.saved.append(sum(1 for owner in (ONE, TWO, THREE) if self.table.held(owner)))

    def write(self, owner: Owner, lock: Lock = A, timeout: float | None = None) -> Deferred[None]:
        """Ask for a lock exclusively."""
        return self.locks.update(owner, [LockRequest.exclusive(lock)], timeout=timeout)

    def test_interface(self) -> None:
        """It answers the lock query."""
        verifyObject(ILockOverview, self.locks)
        self.successResultOf(self.write(ONE))
        self.assertEqual([(row.lock, row.owners) for row in self.locks.overview()], [(A, (ONE,))])

    def test_timeout(self) -> None:
        """Who waited too long leaves the queue, those behind move up, and the message says for what he waited."""
        self.locks.update(ONE, [LockRequest.shared(A)])
        writer = self.write(TWO, timeout=10)
        reader = self.locks.update(THREE, [LockRequest.shared(A)], timeout=20)
        self.clock.advance(9)
        self.assertNoResult(writer)
        self.clock.advance(1)
        error = self.failureResultOf(writer, AttemptFailed).value
        self.assertEqual(str(error), "job 2 waited 10 s in vain for node/a (exclusive)")
        self.successResultOf(reader)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_granted_in_time(self) -> None:
        """Once granted, no clock runs on."""
        self.write(ONE)
        waiting = self.write(TWO, timeout=10)
        self.locks.release_all(ONE)
        self.successResultOf(waiting)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_cancel(self) -> None:
        """A cancelled waiter leaves the queue and lets those behind it through; its owner may ask again."""
        self.locks.update(ONE, [LockRequest.shared(A)])
        writer = self.write(TWO, timeout=10)
        reader = self.locks.update(THREE, [LockRequest.shared(A)])
        writer.cancel()
        self.failureResultOf(writer, CancelledError)
        self.successResultOf(reader)
        self.assertEqual(self.clock.getDelayedCalls(), [])
        self.successResultOf(self.write(TWO, B))

    def test_owner_died(self) -> None:
        """A dead owner's locks go to those who wait, and its own wait fails."""
        self.write(ONE)
        self.write(TWO, B)
        dying = self.locks.update(ONE, [LockRequest.exclusive(B)], timeout=10)
        next_waiter = self.write(THREE)
        self.locks.owner_died(ONE)
        self.successResultOf(next_waiter)
        self.assertEqual(str(self.failureResultOf(dying, LockError).value), "job 1 has died")
        self.assertEqual(self.clock.getDelayedCalls(), [])
        self.locks.owner_died(ONE)

    def test_remove(self) -> None:
        """Who waits for a lock whose object is deleted fails with its name; those behind move up."""
        self.write(ONE)
        waiting = self.locks.update(TWO, [LockRequest.shared(A), LockRequest.exclusive(B)])
        behind = self.locks.update(THREE, [LockRequest.shared(B)])
        self.locks.remove(ONE, A)
        error = self.failureResultOf(waiting, AttemptFailed).value
        self.assertEqual(str(error), "node/a was removed while job 2 waited for it")
        self.successResultOf(behind)

    def test_listener(self) -> None:
        """The listener hears of each change of what is held, before the owner does, and of nothing else."""
        self.write(ONE).addCallback(lambda _: self.saved.append(-1))
        self.assertEqual(self.saved, [1, -1])
        waiting = self.write(TWO)
        waiting.addCallback(lambda _: self.saved.append(-2))
        self.locks.intersect(ONE, [A])
        self.locks.set_priority(TWO, 3)
        self.locks.release_all(THREE)
        self.locks.opportunistic_union(THREE, [LockRequest.shared(A)])
        self.locks.update(ONE, [LockRequest.exclusive(A)])
        self.assertEqual(self.saved, [1, -1])
        self.locks.opportunistic_union(THREE, [LockRequest.shared(B)])
        self.locks.release_all(ONE)
        self.assertEqual(self.saved, [1, -1, 2, 2, -2])

    def test_reentrance(self) -> None:
        """Who is told of his locks may at once end another who was to be told next."""
        self.write(ONE)
        second = self.locks.update(TWO, [LockRequest.shared(A)])
        third = self.locks.update(THREE, [LockRequest.shared(A)])
        second.addCallback(lambda _: self.locks.owner_died(THREE))
        self.locks.release_all(ONE)
        self.successResultOf(second)
        self.failureResultOf(third, LockError)
        self.assertEqual(self.locks.owners(), [TWO])

    def test_asks_again_when_told(self) -> None:
        """Who is told of his locks may at once ask for more."""
        self.write(ONE)
        second = self.write(TWO).addCallback(lambda _: self.write(TWO, B))
        self.locks.release_all(ONE)
        self.successResultOf(second)
        self.assertEqual(self.locks.held(TWO), {A: Mode.EXCLUSIVE, B: Mode.EXCLUSIVE})
