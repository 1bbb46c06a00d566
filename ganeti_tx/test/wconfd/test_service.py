"""WConfD as a whole: where it refuses to run, what it takes up, whom it buries."""

from twisted.internet.defer import Deferred
from twisted.internet.testing import MemoryReactorClock
from twisted.python.threadpool import ThreadPool
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError, ReservationError
from ganeti_tx.locking.interfaces import Level, Lock, LockRequest, Mode
from ganeti_tx.test.wconf.loopback import MASTER, Cluster
from ganeti_tx.wconfd.service import build_wconfd
from ganeti_tx.wconfd.tap import Options, make_service

A = Lock(Level.INSTANCE, "a")


class PooledReactor(MemoryReactorClock):
    """One with a thread pool, which is never started."""

    def getThreadPool(self) -> ThreadPool:
        """The pool."""
        return ThreadPool()


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

    def test_damaged_state(self) -> None:
        """Damaged lists of locks or reservations are not guessed at."""
        self.write(self.cluster.paths.locks_file, b"[{")
        self.assertIn("locks.data: ", self.refusal())
        self.cluster.files.remove(self.cluster.paths.locks_file)
        self.write(self.cluster.paths.temporary_reservations_file, b"{}")
        self.assertIn("tempres.data: ", self.refusal())

    def test_service(self) -> None:
        """The service can be made from its options; nothing happens before it starts."""
        reactor = PooledReactor()
        service = make_service(Options(), reactor)
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
