"""WConfD as a whole: where it refuses to run, what it takes up, whom it releases."""

import errno
from pathlib import Path
from typing import cast

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ConfigurationError, LockError, ReservationError
from ganeti_tx.locking.interfaces import Level, Lock, LockRequest, Mode, Owner
from ganeti_tx.locking.levels import BGL
from ganeti_tx.runtime.reactors import IDaemonReactor
from ganeti_tx.test.fakes.reactor import PooledReactor
from ganeti_tx.test.wconfd.protocol.loopback import MASTER, Cluster
from ganeti_tx.wconfd.protocol.remote_config import RemoteConfig
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


class UnfinishedTests(SynchronousTestCase):
    """Jobs that have begun what must be taken back."""

    def setUp(self) -> None:
        self.cluster = Cluster()
        self.cluster.start()
        self.one, self.two = self.cluster.job(1), self.cluster.job(2)
        self.fresh = self.cluster.job(1, "fresh")

    def write(self, status: str = "running", undo: bool = True) -> None:
        """The file of the first job, which may have an undo."""
        more = {"undo": {"steps": [], "locks": {"cluster/BGL": "shared", str(A): "exclusive"}}} if undo else {}
        held = {"id": 1, "ops": [{"status": status, "input": {}, **more}], "livelock": self.one.livelock}
        path = self.cluster.paths.job_file(1)
        self.cluster.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.cluster.files.write_atomic(path, msgspec.json.encode(held))))

    def ask(self, job: Owner, *locks: Lock) -> "Deferred[None]":
        """Ask for locks over the socket."""
        return self.cluster.begin(self.cluster.client().locks(job).update([LockRequest.exclusive(x) for x in locks]))

    def take_over(self, job: Owner) -> "Deferred[dict[Lock, Mode]]":
        """Ask for what the job's dead processes have left."""
        return self.cluster.begin(self.cluster.client().locks(job).take_over())

    def test_locks_stay(self) -> None:
        """They keep their locks when they die, until a process of the same job has taken them over and released them."""
        self.successResultOf(self.ask(self.one, A))
        self.write()
        self.cluster.die(self.one)
        waiting = self.ask(self.two, A)
        self.cluster.advance(10)
        self.assertNoResult(waiting)
        self.assertEqual(self.successResultOf(self.take_over(self.fresh)), {A: Mode.EXCLUSIVE})
        self.assertNoResult(waiting)
        self.assertEqual(self.successResultOf(self.take_over(self.fresh)), {A: Mode.EXCLUSIVE})
        self.successResultOf(self.cluster.begin(self.cluster.client().locks(self.fresh).release_all()))
        self.cluster.settle()
        self.successResultOf(waiting)

    def test_reservations_stay(self) -> None:
        """So does what they have reserved."""
        mac = self.successResultOf(self.cluster.begin(self.config(self.one).generate_mac(None)))
        self.write()
        self.cluster.die(self.one)
        self.cluster.advance(10)
        self.failureResultOf(self.cluster.begin(self.config(self.two).reserve_mac(mac)), ReservationError)
        fresh = self.config(self.fresh)
        self.successResultOf(self.cluster.begin(fresh.take_over_reservations()))
        self.successResultOf(self.cluster.begin(fresh.reserve_mac(mac)))
        self.successResultOf(self.cluster.begin(fresh.drop_reservations()))
        self.successResultOf(self.cluster.begin(self.config(self.two).reserve_mac(mac)))

    def config(self, job: Owner) -> RemoteConfig:
        """The configuration, over the socket."""
        return self.cluster.client().config(job)

    def test_settled(self) -> None:
        """One whose file has no undo any more loses them like everybody."""
        self.successResultOf(self.ask(self.one, A))
        self.write()
        self.cluster.die(self.one)
        self.cluster.advance(3)
        waiting = self.ask(self.two, A)
        self.write(status="error")
        self.cluster.advance(3)
        self.successResultOf(waiting)

    def test_not_from_the_living(self) -> None:
        """Nobody takes over from a process that lives, nor from another job."""
        self.successResultOf(self.ask(self.one, A))
        self.assertIn("lives", str(self.failureResultOf(self.take_over(self.fresh), LockError).value))
        self.assertEqual(self.successResultOf(self.take_over(self.two)), {})

    def test_who_waited(self) -> None:
        """A dead one keeps what it holds, and waits for nothing more."""
        self.successResultOf(self.ask(self.two, B))
        self.successResultOf(self.ask(self.one, A))
        self.write()
        self.ask(self.one, B).addErrback(lambda failure: None)
        self.cluster.die(self.one)
        self.cluster.advance(3)
        self.successResultOf(self.cluster.begin(self.cluster.client().locks(self.two).release_all()))
        self.assertEqual(self.successResultOf(self.take_over(self.fresh)), {A: Mode.EXCLUSIVE})

    def test_no_list_of_locks(self) -> None:
        """Without locks.data, as after a failover, they have at once what their files name."""
        self.write()
        self.cluster.kill()
        self.cluster.die(self.one)
        self.cluster.start()
        waiting = self.ask(self.two, A)
        self.cluster.advance(3)
        self.assertNoResult(waiting)
        self.assertEqual(self.successResultOf(self.take_over(self.fresh)), {BGL: Mode.SHARED, A: Mode.EXCLUSIVE})

    def test_damaged_file(self) -> None:
        """A file that nobody can read keeps nothing."""
        self.successResultOf(self.ask(self.one, A))
        self.write()
        path = self.cluster.paths.job_file(1)
        self.successResultOf(Deferred.fromCoroutine(self.cluster.files.write_atomic(path, b'{"undo":')))
        self.cluster.die(self.one)
        self.successResultOf(self.ask(self.two, A))


class UnknownLocksTests(SynchronousTestCase):
    """Jobs that live when the list of their locks is damaged."""

    def setUp(self) -> None:
        self.cluster = Cluster()
        self.cluster.start()
        self.one, self.two, self.new = (self.cluster.job(number) for number in (1, 2, 3))
        for job in (self.one, self.two):
            self.successResultOf(self.update(job, BGL, A if job is self.one else B))
            self.write_job(job, "running")
        self.write_job(self.cluster.job(4), "success")
        self.write(self.cluster.paths.queue_dir / "job-5", b"{")
        self.restart()

    def restart(self, damaged: bytes | None = b"[") -> None:
        """Kill WConfD, damage its file, and start it."""
        self.cluster.kill()
        if damaged is not None:
            self.write(self.cluster.paths.locks_file, damaged)
        self.wconfd = self.cluster.start()

    def write(self, path: Path, data: bytes) -> None:
        """Put a file there."""
        self.cluster.files.mkdir(path.parent)
        self.successResultOf(Deferred.fromCoroutine(self.cluster.files.write_atomic(path, data)))

    def write_job(self, job: Owner, status: str) -> None:
        """The file of a job that has a process."""
        held = {"id": job.job_id, "ops": [{"status": status, "input": {}}], "livelock": job.livelock}
        self.write(self.cluster.paths.job_file(job.job_id), msgspec.json.encode(held))

    def update(self, job: Owner, *locks: Lock) -> "Deferred[None]":
        """Ask for locks over the socket: the first of all shared, the others alone."""
        wanted = [LockRequest.shared(lock) if lock == BGL else LockRequest.exclusive(lock) for lock in locks]
        return self.cluster.begin(self.cluster.client().locks(job).update(wanted))

    def release(self, job: Owner) -> None:
        """A job ends."""
        self.successResultOf(self.cluster.begin(self.cluster.client().locks(job).release_all()))

    def test_nobody_else(self) -> None:
        """Until the last of them has let go, nobody else gets any lock."""
        waiting = self.update(self.new, BGL)
        self.release(self.one)
        self.cluster.advance(10)
        self.assertNoResult(waiting)
        self.release(self.two)
        self.cluster.settle()
        self.successResultOf(waiting)

    def test_no_more_locks(self) -> None:
        """They get no more locks, and hear why; once they have let go they are as all."""
        refused = self.failureResultOf(self.update(self.two, C), LockError).value
        self.assertIn("(locks.data) was damaged; run the job again", str(refused))
        self.release(self.two)
        waiting = self.update(self.two, BGL, C)
        self.assertNoResult(waiting)
        self.release(self.one)
        self.cluster.settle()
        self.successResultOf(waiting)

    def test_death(self) -> None:
        """Their death frees the cluster."""
        waiting = self.update(self.new, BGL)
        self.cluster.die(self.one)
        self.cluster.advance(6)
        self.assertNoResult(waiting)
        self.cluster.die(self.two)
        self.cluster.advance(6)
        self.successResultOf(waiting)

    def test_shrinking_holds_the_cluster(self) -> None:
        """One that gives back single locks goes on to hold the cluster."""
        locks = self.cluster.client().locks(self.one)
        self.successResultOf(self.cluster.begin(locks.intersect([A])))
        self.successResultOf(self.cluster.begin(locks.remove(A)))
        waiting = self.update(self.new, BGL)
        self.assertNoResult(waiting)
        self.release(self.one)
        self.release(self.two)
        self.cluster.settle()
        self.successResultOf(waiting)

    def test_another_restart(self) -> None:
        """WConfD does not forget them when it starts once more, and all is as ever after they have ended."""
        self.restart(damaged=None)
        waiting = self.update(self.new, BGL)
        self.release(self.one)
        self.assertNoResult(waiting)
        self.release(self.two)
        self.cluster.settle()
        self.successResultOf(waiting)
        self.restart(damaged=None)
        self.assertEqual(self.wconfd.locks.owners(), [self.new])


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
