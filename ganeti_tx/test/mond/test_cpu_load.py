"""The collector "cpu-avg-load", and the window that it looks through."""

from typing import Any

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GanetiError
from ganeti_tx.mond.cpu_load import STAT, TICKS, CpuLoad, parse_stat
from ganeti_tx.mond.window import MOST, SPAN, Window
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.fakes.files import MemoryFiles
from ganeti_tx.test.mond.parts import CONTRACT, put


def stat(*busy: float) -> str:
    """As the kernel writes it, for processors that were busy for so many seconds."""
    lines = [f"cpu {int(sum(busy) * TICKS)} 0 0 77777 5 0 0 0 3 1"]
    lines += [f"cpu{number} {int(each * TICKS)} 0 0 33333 2 0 0 0 3 1" for number, each in enumerate(busy)]
    return "\n".join([*lines, "intr 12 0 0", "ctxt 7", ""])


class CpuLoadTests(SynchronousTestCase):
    """A machine whose processors are as busy as the test says."""

    def setUp(self) -> None:
        self.files, self.clock = MemoryFiles(), Clock()
        self.collector = CpuLoad(self.files, self.clock)

    def look(self, *busy: float) -> dict[str, Any]:
        """A look when the processors have been busy for so many seconds."""
        put(self.files, STAT, stat(*busy))
        found: dict[str, Any] = self.successResultOf(self.collector.collect())
        return found

    def test_window(self) -> None:
        """The window and the number of samples are the reference's."""
        self.assertEqual((SPAN, MOST), (CONTRACT["cpu_load"]["window_s"], CONTRACT["cpu_load"]["buffer"]))

    def test_young(self) -> None:
        """Until ten minutes are covered there is only the key "error"."""
        for seconds in (0, 5, 594.9):
            self.clock.advance(seconds)
            self.assertEqual(list(self.look(1.0, 1.0)), ["error"])
        self.clock.advance(0.1)
        self.assertNotIn("error", self.look(1.0, 1.0))

    def test_average(self) -> None:
        """The average is over the last ten minutes, of each processor and of all together."""
        self.look(0.0, 1000.0)
        self.clock.advance(600)
        self.assertEqual(self.look(300.0, 1060.0), {"cpu_number": 2, "cpus": [0.5, 0.1], "cpu_total": 0.6})
        self.clock.advance(600)
        self.assertEqual(self.look(300.0, 1660.0)["cpus"], [0.0, 1.0])

    def test_many_samples(self) -> None:
        """Where looks are so frequent that the most samples do not cover ten minutes, they are enough."""
        for number in range(MOST):
            found = self.look(float(number))
            self.clock.advance(1)
        self.assertEqual(found["cpus"], [1.0])

    def test_processor_comes(self) -> None:
        """When a processor comes or goes, all begins anew."""
        self.look(0.0)
        self.clock.advance(600)
        self.look(1.0)
        self.clock.advance(5)
        self.assertEqual(list(self.look(1.0, 1.0)), ["error"])

    def test_busy(self) -> None:
        """Busy is what is not idle and does not wait for disks; guests are counted once."""
        self.assertEqual(
            parse_stat("cpu  1 2 4 800 1600 8 16 32 1 1\ncpu0 1 2 4 800 1600 8 16 32 1 1\n")[0], 63 / TICKS
        )

    def test_unreadable(self) -> None:
        """What is not the kernel's gives an error."""
        for text in ("", "cpu 1 2 3 4 5 6 7 8", "cpu x\ncpu0 x", "cpu 1 2\ncpu0 1 2"):
            self.assertRaises(GanetiError, parse_stat, text)

    def test_this_machine(self) -> None:
        """This machine's own file can be read."""
        collector = CpuLoad(RealFiles(InlineThreads()), self.clock)
        self.assertEqual(list(self.successResultOf(collector.collect())), ["error"])
        self.clock.advance(600)
        found = self.successResultOf(collector.collect())
        self.assertEqual(found["cpu_number"], len(found["cpus"]))


class WindowTests(SynchronousTestCase):
    """Which samples stay."""

    def test_bounded(self) -> None:
        """However long it goes on, one sample at most is older than the span."""
        window: Window[int] = Window()
        for time in range(0, 5000, 7):
            window.add(float(time), time)
        self.assertGreaterEqual(window.seconds, SPAN)
        self.assertLess(window.seconds, SPAN + 7)
        self.assertLessEqual(len(window.samples), MOST)

    def test_set_back(self) -> None:
        """When the clock was set back, nothing is left of what was before."""
        window: Window[int] = Window(span=10.0, most=3)
        for time in (100.0, 104.0, 98.0):
            window.add(time, 1)
        self.assertEqual((window.is_full, list(window.samples)), (False, [(98.0, 1)]))
