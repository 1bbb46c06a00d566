"""Tests of the locks of jobs whose processes died before all was taken back, and of locks that nobody has kept."""

from pathlib import Path

import msgspec
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import LockError, ReservationError
from ganeti_tx.locking.interfaces import Lock, LockRequest, Mode, Owner
from ganeti_tx.locking.levels import BGL
from ganeti_tx.test.wconfd.protocol.loopback import Cluster
from ganeti_tx.test.wconfd.test_service import A, B, C
from ganeti_tx.wconfd.protocol.remote_config import RemoteConfig


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
