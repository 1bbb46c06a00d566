"""A thousand clusters under faults keep every invariant; each seed that does not can be lived through again."""

import os
import subprocess
import sys
from itertools import pairwise

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.inprocess.chaos.campaign import run
from ganeti_tx.test.inprocess.chaos.life import live

SEEDS = 100
#: A seed whose life is long enough to tell two of them apart.
A_SEED = 7
DIGEST = (
    "from ganeti_tx.test.inprocess.chaos.life import live; "
    f"print(live({A_SEED}).digest, [live(seed).turns for seed in range(3)])"
)


class SeedTests(SynchronousTestCase):
    """Whatever the seed."""

    def test_invariants(self) -> None:
        """Every invariant holds, all along and at rest."""
        campaign = run(range(SEEDS), os.cpu_count() or 1)
        faults = [
            f"bench/simulate --seed {each.seed} --trace: {each.broken[0]}\n" + "\n".join(each.story[-30:])
            for each in campaign.broken
        ]
        self.assertEqual(faults[:3], [], campaign.summary())
        self.assertGreater(campaign.ends["success"], 2 * SEEDS)
        self.assertGreater(min(campaign.faults.values()), SEEDS // 100, campaign.summary())


class ChangeTests(SynchronousTestCase):
    """With operators who also change disks, move data and convert."""

    def test_invariants(self) -> None:
        """No instance loses a disk, and none stays that is nobody's."""
        self.assertEqual([live(seed, changes=True).broken for seed in range(10)], [[]] * 10)


class ReplayTests(SynchronousTestCase):
    """A seed is always the same life."""

    def test_same_here(self) -> None:
        """Twice in one process, with other seeds between."""
        first, _, second = (live(seed) for seed in (A_SEED, A_SEED + 1, A_SEED))
        self.assertEqual(first, second)

    def test_same_elsewhere(self) -> None:
        """In processes whose dictionaries and sets are seeded otherwise."""
        said = [
            subprocess.run(
                [sys.executable, "-c", DIGEST],
                env={**os.environ, "PYTHONHASHSEED": number, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                capture_output=True,
                check=True,
            ).stdout
            for number in ("1", "2", "3")
        ]
        for one, other in pairwise(said):
            self.assertEqual(one, other)

    def test_other_seed(self) -> None:
        """Another seed is another life."""
        self.assertNotEqual(live(A_SEED).digest, live(A_SEED + 1).digest)
