"""A short campaign of bench/chaos against real processes."""

import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

CHAOS = Path(__file__).parents[3] / "bench/chaos"
#: Seconds for the whole of it on a busy machine.
LIMIT = 600


class ChaosTests(SynchronousTestCase):
    """Half a minute."""

    def test_short_campaign(self) -> None:
        """Whatever is killed, every invariant holds."""
        argv = [str(CHAOS), "--seed", "7", "--minutes", "0.4", "--kills", "10"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("violations      0", done.stdout)

    if not CHAOS.exists():
        test_short_campaign.skip = "there is no bench beside an installed package"  # type: ignore[attr-defined]
