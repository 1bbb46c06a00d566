"""How a transfer of memory is told of that takes long, or never ends."""

from msgspec.structs import replace
from twisted.internet.defer import CancelledError
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.logic.instance.moves.convergence import PATIENCE, how_far, is_endless
from ganeti_tx.logic.instance.moves.transfer import PAUSE, TELL_EVERY
from ganeti_tx.model.migration import MigrationProgress, MigrationState
from ganeti_tx.rpc.calls.migration import InstanceFinalizeMigrationSrc
from ganeti_tx.test.logic.instance.moves.test_secret import MIGRATE, MigrationCase

MiB = 1 << 20
FIRST = MigrationProgress(
    MigrationState.ACTIVE, 64 * MiB, 256 * MiB, remaining_ram=64 * MiB, passes=1, speed=MiB, dirty_rate=0
)
STUCK = replace(FIRST, transferred_ram=600 * MiB, remaining_ram=3 * MiB, passes=7, dirty_rate=2 * MiB)


class ConvergenceTests(SynchronousTestCase):
    """What old nodes tell."""

    def test_how_far(self) -> None:
        """What is there is never more than all, whatever has been sent; a guest's memory may be empty, and need no sending."""
        self.assertEqual(how_far(FIRST), "memory transfer progress: 75.00 %")
        self.assertEqual(how_far(STUCK), "memory transfer progress: 98.83 %, 3.0 MiB left in pass 7")
        self.assertEqual(how_far(MigrationProgress(MigrationState.ACTIVE)), "")
        older = MigrationProgress(MigrationState.ACTIVE, 600 * MiB, 256 * MiB)
        self.assertEqual(how_far(older), "memory transfer progress: 100.00 %")

    def test_endless(self) -> None:
        """Where more is written than sent, or pass follows pass; not what nobody knows, nor what is fetched from the new node."""
        self.assertTrue(is_endless(STUCK))
        self.assertTrue(is_endless(replace(STUCK, dirty_rate=0, passes=20)))
        for other in (
            FIRST,
            replace(STUCK, passes=2),
            replace(STUCK, dirty_rate=MiB - 1),
            replace(STUCK, speed=0),
            replace(STUCK, status=MigrationState.POSTCOPY),
            MigrationProgress(MigrationState.ACTIVE, 600 * MiB, 256 * MiB),
        ):
            self.assertFalse(is_endless(other), other)


class EndlessTests(MigrationCase):
    """A guest that writes faster than is sent."""

    def test_told(self) -> None:
        """That is told once, when it has gone on for a while, with what ends it; when the job is cancelled the instance stays."""
        self.progress(FIRST, *[STUCK] * (PATIENCE - 1), FIRST, STUCK)
        running = self.stage.run(MIGRATE)
        self.stage.clock.pump([PAUSE] * (2 * PATIENCE - 1))
        self.assertNotIn("does not converge", " ".join(self.stage.feedback))
        self.stage.clock.pump([PAUSE] * 3 * max(TELL_EVERY, PATIENCE))
        told = [line for line in self.stage.feedback if "does not converge" in line]
        self.assertEqual(len(told), 1)
        for word in ("after 7 passes", "2.0 MiB a second", "gnt-job cancel", "--non-live", "auto-converge"):
            self.assertIn(word, told[0])
        self.assertGreater(len([line for line in self.stage.feedback if "98.83 %, 3.0 MiB left" in line]), 1)
        running.cancel()
        self.failureResultOf(running, CancelledError)
        self.assertEqual({call.success for call in self.nodes.of_kind(InstanceFinalizeMigrationSrc)}, {False})
        self.assertEqual(self.primary, "node1-uuid")
