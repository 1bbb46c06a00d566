"""Ganeti's own commands and ours show the same on one cluster; doc/side-by-side.rst says where they do not, and why."""

import os

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.real.devcluster import DevClusterUnderTest
from ganeti_tx.test.real.side_by_side.differences import meaningful, reasons
from ganeti_tx.test.real.side_by_side.lines import every_line, some_lines
from ganeti_tx.test.real.side_by_side.page import PAGE, WRITTEN, page, shown, told
from ganeti_tx.test.real.side_by_side.pair import Pair
from ganeti_tx.test.real.side_by_side.scene import OPTIONS, furnish
from ganeti_tx.test.real.test_stock_commands import why_not

EVERY = "GANETI_EVERY_LINE" in os.environ


class SideBySideTests(SynchronousTestCase):
    """A cluster with something of everything."""

    skip = why_not()
    maxDiff = None

    def setUp(self) -> None:
        self.cluster = DevClusterUnderTest(OPTIONS)
        self.addCleanup(self.cluster.close)
        furnish(self.cluster)
        self.pair = Pair(self.cluster)
        self.addCleanup(self.pair.close)

    def test_same(self) -> None:
        """What differs is as the page says, which a run of all lines writes."""
        lines = every_line() if EVERY else some_lines()
        found = {command: {line: self.found(line) for line in lines[command]} for command in lines}
        if not EVERY:
            said = told()
            wrong = {
                line: keys
                for each in found.values()
                for line, keys in each.items()
                if keys != said.get(shown(line), [])
            }
            self.assertEqual(wrong, {})
        elif not PAGE.exists() or PAGE.read_text() != page(found):
            WRITTEN.write_text(page(found))
            self.fail(f"{PAGE} does not say what was found; that is in {WRITTEN.resolve()}")

    def found(self, line: str) -> list[str]:
        """How both differ in a line; what changed meanwhile is looked at again. @raise AssertionError: not on purpose."""
        for _attempt in range(3):
            stock, ours = self.pair.both(line)
            keys = reasons(line, stock, ours)
            if keys is not None:
                return keys
        self.assertEqual(meaningful(line, ours), meaningful(line, stock), line)
        return []
