"""WConfD as a whole: where it refuses to run, what it takes up, whom it releases."""

import errno
from pathlib import Path
from typing import cast

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError, LockError, ReservationError
from ganeti_tx.locking.interfaces import Level, Lock, LockRequest, Mode
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.test.fakes.reactor import PooledReactor
from ganeti_tx.test.wconfd.protocol.loopback import MASTER, Cluster
from ganeti_tx.wconfd.service import build_wconfd
from ganeti_tx.wconfd.tap import Options, make_service

A, B, C = (Lock(Level.INSTANCE, name) for name in "abc")


class StartTests(SynchronousTestCase):
    """One clear line when it cannot run."""

    def setUp(self) -> None:
        self.cluster = Cluster()

    def refusal(self, own_name: str = MASTER) -> str:
        """Why it does not start."""
        starting = Deferred.fromCoroutine(build_wconfd(self.cluster.parts(own_name)))
        text = str(self.failureResultOf(starting, ConfigurationError).value)
        self.assertNotIn("\n", text)
        return text

    def write(self, path: object, data: bytes) -> None:
        """Put a file there."""
        self.successResultOf(Deferred.fromCoroutine(self.cluster.files.write_atomic(path, data)))  # type: ignore[arg-type]

    def test_no_cluster(self) -> None:
        """Without config.data there is no cluster."""
        self.cluster.files.remove(self.cluster.paths.config_file)
        self.assertIn("not part of a cluster: no /var/lib/ganeti/config.data", self.refusal())

    def test_not_master(self) -> None:
        """On a node that is not the master, by the configuration or by ssconf, it does not run."""
        self.assertIn(
            f"node2.example.com) is not the master of the cluster, {MASTER} is", self.refusal("node2.example.com")
        )
        self.write(self.cluster.paths.ssconf_file("master_node"), b"node2.example.com\n")
        self.assertIn("node2.example.com is", self.refusal())

    def test_torn_configuration(self) -> None:
        """A configuration that is half there, empty or no JSON is refused; the line says which file, and who has copies."""
        path = self.cluster.paths.config_file
        whole = self.cluster.files.read(path, 1 << 20)
        self.cluster.start()  # writes simple configuration
        self.cluster.kill()
        for torn in (whole[: len(whole) // 2], b"", b"\0" * len(whole), b"[]"):
            self.write(path, torn)
            text = self.refusal()
            self.assertIn(f"{path}: ", text)
            self.assertIn("from the master candidate where its serial_no is highest: node2.example.com", text)
            self.assertEqual(self.cluster.files.read(path, 1 << 20), torn)

    def test_torn_configuration_alone(self) -> None:
        """Who knows no other candidate needs a backup."""
        self.write(self.cluster.paths.config_file, b"{")
        self.assertIn("restore it from a backup", self.refusal())

    def test_damaged_state(self) -> None:
        """Damaged lists of locks and reservations are set aside, and WConfD starts."""
        paths = self.cluster.paths
        for damaged in (b"[{", b"", b"{}", b"\0\0"):
            self.write(paths.locks_file, damaged)
            self.write(paths.temporary_reservations_file, damaged)
            self.cluster.start()
            self.cluster.kill()
            for path in (paths.locks_file, paths.temporary_reservations_file):
                aside = path.with_name(f"{path.name}.damaged-{1000 + self.cluster.clock.seconds():.0f}")
                self.assertEqual(self.cluster.files.read(aside, 10), damaged)

    def test_service(self) -> None:
        """The service can be made from its options; nothing happens before it starts."""
        reactor = PooledReactor()
        service = make_service(Options(), cast(IDaemonReactor, reactor))
        self.assertEqual(reactor.unixServers, [])
        self.assertFalse(service.running)


class OwnerTests(SynchronousTestCase):
    """What belongs to jobs that die."""

    def setUp(self) -> None:
        self.cluster = Cluster()
        self.wconfd = self.cluster.start()
        self.one, self.two = self.cluster.job(1), self.cluster.job(2)

    def test_dead_lose_locks(self) -> None:
        """A dead owner's locks go to those who wait, within seconds."""
        self.successResultOf(self.wconfd.locks.update(self.one, [LockRequest.exclusive(A)]))
        waiting = self.wconfd.locks.update(self.two, [LockRequest.exclusive(A)])
        self.cluster.advance(6)
        self.assertNoResult(waiting)
        self.cluster.die(self.one)
        self.cluster.advance(6)
        self.successResultOf(waiting)

    def test_dead_found_when_somebody_waits(self) -> None:
        """Who has to wait over the socket for a dead owner's lock gets it at once."""
        self.successResultOf(self.wconfd.locks.update(self.one, [LockRequest.exclusive(A)]))
        self.cluster.die(self.one)
        locks = self.cluster.client().locks(self.two)
        self.successResultOf(self.cluster.begin(locks.update([LockRequest.exclusive(A)])))

    def test_told_of_a_death(self) -> None:
        """Who knows of a death has the locks freed at once, for one who waits already."""
        self.successResultOf(self.wconfd.locks.update(self.one, [LockRequest.exclusive(A)]))
        waiting = self.wconfd.locks.update(self.two, [LockRequest.exclusive(A)])
        self.cluster.die(self.one)
        self.assertNoResult(waiting)
        self.successResultOf(self.cluster.begin(self.cluster.client().look_for_dead()))
        self.successResultOf(waiting)

    def test_livelocks_of_the_dead(self) -> None:
        """The livelocks of dead processes go away, also of those that held nothing."""
        idle = self.cluster.job(3)
        self.cluster.die(idle)
        self.cluster.advance(2)
        self.assertEqual(self.cluster.liveness.remove_stale(self.cluster.paths.livelock_dir), [])

    def test_dead_lose_reservations(self) -> None:
        """What a dead owner reserved is free again."""
        mac = self.successResultOf(self.cluster.begin(self.wconfd.config(self.one).generate_mac(None)))
        claim = self.wconfd.config(self.two)
        self.failureResultOf(self.cluster.begin(claim.reserve_mac(mac)), ReservationError)
        self.cluster.die(self.one)
        self.cluster.advance(6)
        self.successResultOf(self.cluster.begin(claim.reserve_mac(mac)))

    def test_restart(self) -> None:
        """After a restart the living have what they had, the dead have nothing."""
        b = Lock(Level.NODE, "b")
        self.successResultOf(self.wconfd.locks.update(self.one, [LockRequest.exclusive(A)]))
        self.successResultOf(self.wconfd.locks.update(self.two, [LockRequest.shared(b)]))
        macs = [
            self.successResultOf(self.cluster.begin(self.wconfd.config(job).generate_mac(None)))
            for job in (self.one, self.two)
        ]
        self.cluster.kill()
        self.cluster.die(self.one)
        wconfd = self.cluster.start()
        self.assertEqual(wconfd.locks.held(self.two), {b: Mode.SHARED})
        self.assertEqual(wconfd.locks.owners(), [self.two])
        self.assertEqual(set(wconfd.reservations.values("MAC address")), {macs[1]})

    def test_mode(self) -> None:
        """Only the daemon reads the list of locks."""
        self.successResultOf(self.wconfd.locks.update(self.one, [LockRequest.exclusive(A)]))
        self.assertEqual(self.cluster.files.stat(self.cluster.paths.locks_file).mode, 0o600)


class FullDiskTests(SynchronousTestCase):
    """Locks and reservations while the disk takes no writes."""

    def setUp(self) -> None:
        self.cluster = Cluster()
        self.wconfd = self.cluster.start()
        self.job = self.cluster.job(1)
        self.locks = self.cluster.client().locks(self.job)
        self.full = False
        self.cluster.files.fault = self.fault
        self.addCleanup(self.cluster.advance, 10)
        self.addCleanup(setattr, self, "full", False)

    def fault(self, step: str, path: Path) -> OSError | None:
        """As long as it is full."""
        return OSError(errno.ENOSPC, "No space left on device", str(path)) if self.full and "write" in step else None

    def test_grant_is_held_back(self) -> None:
        """A lock is given when it has been written, be it some seconds later."""
        self.full = True
        waiting = self.cluster.begin(self.locks.update([LockRequest.exclusive(A)]))
        self.cluster.advance(5)
        self.assertNoResult(waiting)
        self.full = False
        self.cluster.advance(5)
        self.successResultOf(waiting)
        self.cluster.kill()
        self.assertEqual(self.cluster.start().locks.held(self.job), {A: Mode.EXCLUSIVE})

    def test_grant_is_refused(self) -> None:
        """After some time it is refused with the reason; the owner has what it had, and others can have the rest."""
        self.successResultOf(self.cluster.begin(self.locks.update([LockRequest.shared(A)])))
        self.full = True
        more = [LockRequest.exclusive(A), LockRequest.exclusive(B)]
        waiting = self.cluster.begin(self.locks.update(more))
        taken = self.cluster.begin(self.cluster.client().locks(self.cluster.job(2)).opportunistic_union([more[1]]))
        self.cluster.advance(11)
        text = str(self.failureResultOf(waiting, LockError).value)
        self.assertIn("no locks can be given out: cannot write /var/lib/ganeti/locks.data: No space left", text)
        self.assertEqual(self.wconfd.locks.held(self.job), {A: Mode.SHARED})
        self.assertEqual(self.successResultOf(taken), set())
        self.full = False
        self.cluster.advance(5)
        self.successResultOf(self.cluster.begin(self.locks.update(more)))
        self.cluster.kill()
        self.assertEqual(self.cluster.start().locks.held(self.job), {A: Mode.EXCLUSIVE, B: Mode.EXCLUSIVE})

    def test_opportunistic_grant_is_refused(self) -> None:
        """So is what is taken opportunistically."""
        self.full = True
        waiting = self.cluster.begin(self.locks.opportunistic_union([LockRequest.exclusive(A)]))
        self.cluster.advance(11)
        self.failureResultOf(waiting, LockError)
        self.assertEqual(self.wconfd.locks.held(self.job), {})

    def test_release_waits(self) -> None:
        """A release is told when a restart would not find the lock held."""
        self.successResultOf(self.cluster.begin(self.locks.update([LockRequest.shared(A)])))
        self.full = True
        waiting = self.cluster.begin(self.locks.release_all())
        self.cluster.advance(60)
        self.assertNoResult(waiting)
        self.full = False
        self.cluster.advance(5)
        self.successResultOf(waiting)
        self.cluster.kill()
        self.assertEqual(self.cluster.start().locks.owners(), [])

    def test_reservation_is_refused(self) -> None:
        """What cannot be written down is not reserved, and can be when the disk is well."""
        self.full = True
        config = self.cluster.client().config(self.job)
        waiting = self.cluster.begin(config.generate_mac(None))
        self.cluster.advance(11)
        text = str(self.failureResultOf(waiting, ConfigurationError).value)
        self.assertIn("cannot write /var/lib/ganeti/tempres.data: No space left", text)
        self.full = False
        self.cluster.advance(5)
        self.successResultOf(self.cluster.begin(config.generate_mac(None)))

    def test_stop(self) -> None:
        """The end of the daemon does not wait for the disk for ever."""
        self.full = True
        self.successResultOf(self.wconfd.locks.update(self.job, [LockRequest.exclusive(A)]))
        ending = self.cluster.begin(self.wconfd.stop())
        self.cluster.advance(6)
        self.successResultOf(ending)
