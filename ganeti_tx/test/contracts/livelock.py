"""What every ILiveness does."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from ganeti_tx.runtime.livelock import ILiveness


class LivenessContract(SynchronousTestCase):
    """A subclass sets `liveness` and `top`, an empty directory, and says how processes start and die."""

    liveness: ILiveness
    top: Path

    def start(self, purpose: str) -> Path:
        """Begin a process that holds a livelock in `top`."""
        raise NotImplementedError

    def die(self, path: Path) -> None:
        """End it, without any chance to clean up."""
        raise NotImplementedError

    def test_interface(self) -> None:
        """It has every method of the interface."""
        verifyObject(ILiveness, self.liveness)

    def test_life_and_death(self) -> None:
        """A process is alive until it dies, however often it is asked for."""
        path = self.start("job-1")
        self.assertEqual([self.liveness.is_alive(path) for _ in range(3)], [True] * 3)
        self.die(path)
        self.assertEqual([self.liveness.is_alive(path) for _ in range(3)], [False] * 3)

    def test_missing(self) -> None:
        """A process whose livelock is gone is dead."""
        self.assertFalse(self.liveness.is_alive(self.top / "job-1_1_1.0"))

    def test_remove_stale(self) -> None:
        """Only the livelocks of the dead are removed."""
        living, dead = self.start("job-1"), self.start("job-2")
        self.die(dead)
        self.assertEqual(self.liveness.remove_stale(self.top), [dead])
        self.assertEqual(self.liveness.remove_stale(self.top), [])
        self.assertTrue(self.liveness.is_alive(living))
