"""A daemon's own process: what the kernel says of it, and how late it is."""

import sys
import time
from pathlib import Path

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.metrics.process import CPU, LAG, OPEN_FILES, RESIDENT, Usage
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.runtime.own_process import OwnProcess
from ganeti_tx.runtime.process_usage import PAGE_SIZE, TICKS_A_SECOND, read_usage

NUMBERS = "1 2 3 4 5 6 7 8 9 10 250 50 13 14 15 16 17 18 1200 4096000 777 0 0"


class UsageTests(SynchronousTestCase):
    """Reading /proc."""

    def process(self, stat: str) -> Path:
        """A directory as the kernel shows one for a process, with three open files."""
        directory = Path(self.mktemp())
        (directory / "fd").mkdir(parents=True)
        for number in range(3):
            (directory / "fd" / str(number)).touch()
        (directory / "stat").write_text(stat)
        return directory

    def test_fields(self) -> None:
        """Each number is taken from its place, whatever the program is called."""
        usage = read_usage(self.process(f"99 (a) b) (c) S {NUMBERS}\n"), boot=1000.0)
        self.assertEqual(usage.resident, 777 * PAGE_SIZE)
        self.assertEqual(usage.virtual, 4096000)
        self.assertEqual(usage.cpu, 300 / TICKS_A_SECOND)
        self.assertEqual(usage.started, 1000.0 + 1200 / TICKS_A_SECOND)
        self.assertEqual(usage.open_files, 3)

    def test_gone(self) -> None:
        """Of a process that is gone, or a file that is no such thing, nothing is told."""
        self.assertEqual(read_usage(Path(self.mktemp())), Usage())
        for stat in ("", "99 (a) S 1 2", f"99 (a) S x {NUMBERS}"):
            self.assertEqual(read_usage(self.process(stat)), Usage())

    def test_own(self) -> None:
        """This very process has memory, has used time, and was started in the past."""
        usage = read_usage()
        self.assertGreater(usage.resident or 0, 1024 * 1024)
        self.assertLess(usage.resident or sys.maxsize, usage.virtual or 0)
        self.assertGreater(usage.cpu or 0, 0)
        self.assertGreater(usage.open_files or 0, 2)
        self.assertLess(usage.started or sys.maxsize, time.time() + 1)


class OwnProcessTests(SynchronousTestCase):
    """What a daemon records of itself."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.tally = Tally()
        usage = Usage(resident=10, cpu=2.5)
        self.process = OwnProcess("ganeti-rapi", self.tally, self.clock, lambda: usage)

    def test_usage(self) -> None:
        """What is used is recorded when it is asked for; what cannot be told is absent."""
        self.process.record()
        values = self.tally.readings().values
        self.assertEqual(values[RESIDENT.name][0].value, 10)
        self.assertEqual(values[CPU.name][0].value, 2.5)
        self.assertNotIn(OPEN_FILES.name, values)

    def test_lag(self) -> None:
        """A reactor that was held up for some seconds is that late at its next look."""
        self.process.start()
        self.clock.advance(1.0)
        self.clock.advance(4.0)
        self.process.stop()
        self.clock.advance(10.0)
        (spread,) = self.tally.readings().spreads[LAG.name]
        self.assertEqual((sum(spread.counts), spread.sum), (2, 3.0))
        self.assertEqual(self.clock.getDelayedCalls(), [])
