"""Both ends of the WConfD protocol together: typed calls, locks that wait, a WConfD that comes and goes."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from msgspec.structs import replace
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.config.call import Call
from ganeti_tx.errors import ConfigurationError, LockError, OpPrereqError
from ganeti_tx.locking.interfaces import AttemptFailed, ILocks, Level, Lock, LockRequest, Mode, Owner
from ganeti_tx.model.enums import TagKind
from ganeti_tx.test.model.samples import CLUSTER, DISK, FILTER, INSTANCE, NODE
from ganeti_tx.test.wconfd.protocol.loopback import Cluster
from ganeti_tx.wconfd.protocol.link import encoded
from ganeti_tx.wconfd.protocol.own_calls import FREE_LOCKS, UPDATE_LOCKS

T = TypeVar("T")

A, B = Lock(Level.INSTANCE, "a"), Lock(Level.INSTANCE, "b")


class ProtocolCase(SynchronousTestCase):
    """A WConfD and two jobs."""

    def setUp(self) -> None:
        self.cluster = Cluster()
        self.cluster.start()
        self.one, self.two = self.cluster.job(1), self.cluster.job(2)
        self.client, self.client2 = self.cluster.client(), self.cluster.client()
        self.locks, self.locks2 = self.client.locks(self.one), self.client2.locks(self.two)
        self.config = self.client.config(self.one)

    def done(self, work: Coroutine[Any, Any, T]) -> T:
        """The result."""
        return self.successResultOf(self.cluster.begin(work))

    def refused(self, work: Coroutine[Any, Any, Any], kind: type[Exception], words: str) -> None:
        """It fails with that error."""
        self.assertIn(words, str(self.failureResultOf(self.cluster.begin(work), kind).value))


class ConfigTests(ProtocolCase):
    """IConfig over the wire."""

    def test_interface(self) -> None:
        """The remote objects are what they stand for."""
        verifyObject(ILocks, self.locks)

    def test_typed(self) -> None:
        """Objects arrive as they were sent, in both directions."""
        self.assertEqual(self.done(self.config.node("node1")), NODE)
        self.assertEqual(self.done(self.config.instances()), [INSTANCE])
        self.assertEqual(self.done(self.config.instances(["web1"])), [INSTANCE])
        self.assertEqual(self.done(self.config.disks("web1")), [DISK])
        self.assertEqual(self.done(self.config.filters()), [FILTER])
        self.assertEqual(self.done(self.config.instances_of_node("node1")), ([INSTANCE], []))
        self.assertEqual(self.done(self.config.cluster()).hvparams, CLUSTER.hvparams)
        changed = self.done(self.config.update_instance(replace(INSTANCE, os="other")))
        self.assertEqual(
            (changed.os, changed.serial_no, changed.osparams_private), ("other", 2, {"password": "s3cret"})
        )
        self.done(self.config.change_tags(TagKind.CLUSTER, None, ["x"], []))
        self.assertEqual(self.done(self.config.tags(TagKind.CLUSTER, None)), ["a", "b", "x"])
        self.assertEqual(self.done(self.config.verify()), [])

    def test_views(self) -> None:
        """An instance arrives with all that belongs to it: by one request, from one state, be it one instance or many."""
        asked = len(self.cluster.requests)
        view = self.done(self.config.instance_view("web1"))
        self.assertEqual(self.cluster.requests[asked:], ["GetInstanceView"])
        self.assertEqual((view.instance, view.disks, view.primary), (INSTANCE, (DISK,), NODE))
        self.assertEqual(view.nodes.keys(), set(DISK.nodes))
        for asked_for in (None, ["web1"]):
            self.assertEqual(self.done(self.config.instance_views(asked_for)).each(), [view])
        self.assertEqual(self.done(self.config.instance_views([])).each(), [])
        self.refused(self.config.instance_view("ghost"), OpPrereqError, "Instance 'ghost' not known")
        self.refused(self.config.instance_views(["web1", "ghost"]), OpPrereqError, "Instance 'ghost' not known")

    def test_errors(self) -> None:
        """Errors arrive as their classes, with their codes."""
        error = self.failureResultOf(self.cluster.begin(self.config.node("ghost")), OpPrereqError).value
        self.assertEqual(error.args, ("Node 'ghost' not known", "unknown_entity"))
        self.refused(self.config.remove_node(NODE.uuid), ConfigurationError, "is the master")

    def test_wrong_types(self) -> None:
        """An argument of another type is refused by name before anything is done."""
        self.refused(self.config.node(7), OpPrereqError, "GetNode: identifier (str): Expected `str`")  # type: ignore[arg-type]

    def test_reservations_are_the_owners(self) -> None:
        """What one job reserved another cannot."""
        mac = self.done(self.config.generate_mac(None))
        self.refused(self.client2.config(self.two).reserve_mac(mac), Exception, "reserved by job 1")
        self.done(self.config.drop_reservations())
        self.done(self.client2.config(self.two).reserve_mac(mac))

    def test_restart(self) -> None:
        """A read waits for a WConfD that restarts, a change that was not sent does too."""
        self.done(self.config.cluster())
        self.cluster.kill()
        reading = self.cluster.begin(self.config.node("node1"))
        tagging = self.cluster.begin(self.client2.config(self.two).change_tags(TagKind.CLUSTER, None, ["x"], []))
        self.cluster.advance(5)
        self.assertNoResult(reading)
        self.assertNoResult(tagging)
        self.cluster.start()
        self.cluster.advance(1)
        self.assertEqual(self.successResultOf(reading), NODE)
        self.successResultOf(tagging)

    def test_lost_change(self) -> None:
        """When the connection is lost after a change was sent, nobody pretends to know whether it was made."""
        self.cluster.files.slow = True
        tagging = self.cluster.begin(self.config.change_tags(TagKind.CLUSTER, None, ["x"], []))
        self.cluster.kill()
        error = self.failureResultOf(tagging, ConfigurationError).value
        self.assertIn("whether the change was made is not known", str(error))

    def test_patience_ends(self) -> None:
        """A WConfD that stays away is an error after a while."""
        self.cluster.kill()
        reading = self.cluster.begin(self.config.cluster())
        self.cluster.advance(59)
        self.assertNoResult(reading)
        self.cluster.advance(2)
        self.assertIn("WConfD is not running", str(self.failureResultOf(reading, ConfigurationError).value))


class LockTests(ProtocolCase):
    """ILocks over the wire."""

    def test_update_and_list(self) -> None:
        """Locks are taken, listed, and given back."""
        self.done(self.locks.update([LockRequest.exclusive(A), LockRequest.shared(B)]))
        self.assertEqual(self.done(self.locks.held()), {A: Mode.EXCLUSIVE, B: Mode.SHARED})
        self.assertEqual(
            self.done(self.locks2.opportunistic_union([LockRequest.shared(A), LockRequest.shared(B)])), {B}
        )
        self.done(self.locks.intersect([B]))
        self.assertEqual(self.done(self.locks.held()), {B: Mode.SHARED})
        self.done(self.locks.release_all())
        self.assertEqual(self.done(self.locks.held()), {})

    def test_waiting_does_not_block(self) -> None:
        """While an update waits, the same job's other requests go on."""
        self.done(self.locks.update([LockRequest.exclusive(A)]))
        waiting = self.cluster.begin(self.locks2.update([LockRequest.exclusive(A)]))
        self.assertNoResult(waiting)
        self.assertEqual(self.done(self.client2.config(self.two).node("node1")), NODE)
        self.done(self.locks2.set_priority(-5))
        [status] = self.done(self.client.lock_overview())
        self.assertEqual((status.lock, status.owners), (A, (self.one,)))
        self.assertEqual(status.pending, ((Mode.EXCLUSIVE, (self.two,)),))
        self.done(self.locks.release_all())
        self.cluster.settle()
        self.successResultOf(waiting)

    def test_cancel(self) -> None:
        """Cancelling an update leaves the queue, and those behind go on."""
        self.done(self.locks.update([LockRequest.shared(A)]))
        waiting = self.cluster.begin(self.locks2.update([LockRequest.exclusive(A)]))
        three = self.cluster.job(3)
        behind = self.cluster.begin(self.client.locks(three).update([LockRequest.shared(A)]))
        self.assertNoResult(behind)
        waiting.cancel()
        self.failureResultOf(waiting)
        self.cluster.settle()
        self.successResultOf(behind)
        self.assertEqual(self.done(self.locks2.held()), {})

    def test_timeout(self) -> None:
        """An update whose time is over, or of whose locks one is removed, is a failed attempt here, too."""
        self.done(self.locks.update([LockRequest.exclusive(A)]))
        self.refused(self.locks2.update([LockRequest.shared(A)], timeout=0), AttemptFailed, "in vain")
        waiting = self.cluster.begin(self.locks2.update([LockRequest.shared(A)], timeout=3))
        self.cluster.advance(4)
        self.failureResultOf(waiting, AttemptFailed)
        waiting = self.cluster.begin(self.locks2.update([LockRequest.shared(A)]))
        self.done(self.locks.remove(A))
        self.cluster.settle()
        self.assertIn("instance/a was removed", str(self.failureResultOf(waiting, AttemptFailed).value))

    def test_errors(self) -> None:
        """What the lock table refuses arrives as LockError."""
        self.done(self.locks.update([LockRequest.exclusive(B)]))
        self.refused(self.locks.update([LockRequest.exclusive(A)]), LockError, "instance/a")
        waiting = self.cluster.begin(self.locks2.update([LockRequest.shared(B)]))
        self.refused(self.locks2.update([LockRequest.shared(A)]), LockError, "before its last update has ended")
        self.done(self.locks.remove(B))
        self.cluster.settle()
        self.assertIn("was removed", str(self.failureResultOf(waiting, LockError).value))

    def test_dead_owner(self) -> None:
        """Without a living process there are no locks to be had."""
        self.cluster.die(self.one)
        self.refused(self.locks.update([LockRequest.shared(A)]), LockError, "no living process")
        outside = self.client.locks(Owner(9, "/tmp/elsewhere"))
        self.refused(outside.update([LockRequest.shared(A)]), LockError, "no living process")

    def test_restart(self) -> None:
        """Held locks survive a restart of WConfD, and who waited waits on."""
        self.done(self.locks.update([LockRequest.exclusive(A)]))
        waiting = self.cluster.begin(self.locks2.update([LockRequest.exclusive(A)]))
        self.cluster.kill()
        self.cluster.advance(2)
        self.cluster.start()
        self.cluster.advance(2)
        self.assertEqual(self.done(self.locks.held()), {A: Mode.EXCLUSIVE})
        self.assertNoResult(waiting)
        self.done(self.locks.release_all())
        self.cluster.settle()
        self.successResultOf(waiting)

    def test_restart_keeps_the_time(self) -> None:
        """A restart of WConfD does not give an update more time than was asked for."""
        self.done(self.locks.update([LockRequest.exclusive(A)]))
        waiting = self.cluster.begin(self.locks2.update([LockRequest.exclusive(A)], timeout=5))
        self.cluster.advance(3)
        self.cluster.kill()
        self.cluster.start()
        self.cluster.advance(1.5)
        self.assertNoResult(waiting)
        self.cluster.advance(1)
        self.failureResultOf(waiting, AttemptFailed)

    def test_granted_when_saved(self) -> None:
        """Nobody hears of a lock before it is where a restart finds it."""
        self.cluster.files.slow = True
        waiting = self.cluster.begin(self.locks.update([LockRequest.exclusive(A)]))
        self.assertNoResult(waiting)
        for _ in range(3):
            if self.cluster.files.under_way:
                self.cluster.files.finish()
            self.cluster.settle()
        self.successResultOf(waiting)

    def send(self, call: Call[..., Any], *args: object) -> "Deferred[Any]":
        """A request of the first job's process, over a connection of its own."""

        async def ask() -> Any:
            conversation = await self.cluster.connect()
            return await conversation.ask(encoded(call, self.one, args))

        return self.cluster.begin(ask())

    def test_update_comes_after_its_release(self) -> None:
        """Locks that were asked for, given up while the request was on its way, and released are not granted after that."""
        self.successResultOf(self.send(FREE_LOCKS, 2))
        late = self.send(UPDATE_LOCKS, 1, [("instance/a", "exclusive")], 0, None)
        self.assertIn("has asked for something else", str(self.failureResultOf(late, LockError).value))
        self.assertEqual(self.done(self.locks.held()), {})

    def test_release_comes_late(self) -> None:
        """A release that was sent again over another connection does not take what was granted meanwhile."""
        self.successResultOf(self.send(FREE_LOCKS, 1))
        self.successResultOf(self.send(UPDATE_LOCKS, 2, [("instance/a", "exclusive")], 0, None))
        self.successResultOf(self.send(FREE_LOCKS, 1))
        self.assertEqual(self.done(self.locks.held()), {A: Mode.EXCLUSIVE})
        self.successResultOf(self.send(FREE_LOCKS, 3))
        self.assertEqual(self.done(self.locks.held()), {})
