"""The kernel's locks and the simulated ones tell life from death alike."""

import fcntl
import os
import signal
import stat
from pathlib import Path

from ganeti_tx.runtime.file_lock import HeldFile
from ganeti_tx.runtime.livelock import FlockLiveness, create_livelock
from ganeti_tx.test.contracts.livelock import LivenessContract
from ganeti_tx.test.fakes.livelock import FakeLiveness


class FlockLivenessTests(LivenessContract):
    """The contract with processes that really die."""

    def setUp(self) -> None:
        """No process yet."""
        self.top = Path(self.mktemp()).absolute()
        self.top.mkdir(parents=True)
        self.liveness = FlockLiveness()
        self.pids: dict[Path, int] = {}

    def start(self, purpose: str) -> Path:
        """A forked child that holds its livelock and waits."""
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            held = create_livelock(self.top, purpose, lambda: 1.5)
            os.write(theirs, str(held.path).encode())
            signal.pause()
            os._exit(1)
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            path = Path(os.read(pipe.fileno(), 4096).decode())
        self.pids[path] = pid
        self.addCleanup(lambda: self.die(path) if path in self.pids else None)
        return path

    def die(self, path: Path) -> None:
        """Killed."""
        pid = self.pids.pop(path)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

    def test_name(self) -> None:
        """The name says what for, which process, and when; only the owner may open the file."""
        held = self.hold("luxid")
        self.assertEqual(held.path, self.top / f"luxid_{os.getpid()}_1.500000")
        self.assertEqual(stat.S_IMODE(held.path.stat().st_mode), 0o600)
        self.assertEqual(os.listdir(self.top), [held.path.name])

    def test_release(self) -> None:
        """A released livelock is gone; releasing twice is no harm."""
        held = self.hold("luxid")
        self.assertTrue(self.liveness.is_alive(held.path))
        held.release()
        held.release()
        self.assertEqual(os.listdir(self.top), [])

    def test_purpose_is_a_name(self) -> None:
        """A purpose cannot lead out of the directory."""
        self.assertRaises(ValueError, create_livelock, self.top, "../x", lambda: 1.0)

    def test_askers(self) -> None:
        """Many may ask at once: the dead do not look alive because somebody else is asking."""
        path = self.start("job-1")
        asking = os.open(path, os.O_RDONLY)
        self.addCleanup(os.close, asking)
        self.assertRaises(BlockingIOError, fcntl.flock, asking, fcntl.LOCK_SH | fcntl.LOCK_NB)
        self.assertTrue(self.liveness.is_alive(path))
        self.die(path)
        fcntl.flock(asking, fcntl.LOCK_SH | fcntl.LOCK_NB)
        self.assertFalse(self.liveness.is_alive(path))

    def test_unnamed(self) -> None:
        """What a process left that died before its livelock had a name goes away when it is old, not before."""
        young, old = self.top / ".job_1_1.5.new", self.top / ".job_2_1.5.new"
        for path in (young, old):
            path.touch()
        os.utime(old, (1.0, 1.0))
        self.assertEqual(self.liveness.remove_stale(self.top), [old])
        self.assertEqual(os.listdir(self.top), [young.name])

    def hold(self, purpose: str) -> HeldFile:
        """A livelock of this process."""
        held = create_livelock(self.top, purpose, lambda: 1.5)
        self.addCleanup(held.release)
        return held


class FakeLivenessTests(LivenessContract):
    """The contract with simulated processes."""

    def setUp(self) -> None:
        """No process yet."""
        self.fake = FakeLiveness()
        self.liveness = self.fake
        self.top = Path("/livelocks")

    def start(self, purpose: str) -> Path:
        """It only says so."""
        return self.fake.start(self.top / purpose)

    def die(self, path: Path) -> None:
        """It only says so."""
        self.fake.die(path)


del LivenessContract  # trial would run it on its own
