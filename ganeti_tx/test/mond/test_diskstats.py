"""The collector "diskstats"."""

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import GanetiError
from ganeti_tx.mond.diskstats import DISKSTATS, DiskStats, parse_diskstats
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.mond.parts import CONTRACT

OLD = "   8       0 sda 1 2 3 4 5 6 7 8 9 10 11\n"
NEW = " 253      16 dm-16 2003 84 13348 228 21003 41990 548800 18261 0 17168 32654 0 0 0 0 15176 14164\n"


class DiskStatsTests(SynchronousTestCase):
    """Lines of the kernel."""

    def test_names(self) -> None:
        """A device has the keys of the reference, in its order."""
        names = CONTRACT["collectors"]["diskstats"]["data"].removeprefix("list of {").removesuffix("}").split(", ")
        self.assertEqual(list(parse_diskstats(OLD)[0]), names)

    def test_values(self) -> None:
        """The counters are those of the line, in order; what newer kernels add is left out."""
        old, new = parse_diskstats(OLD + NEW)
        self.assertEqual(list(old.values()), [8, 0, "sda", *range(1, 12)])
        self.assertEqual((new["major"], new["minor"], new["name"], new["wIOmillis"]), (253, 16, "dm-16", 32654))

    def test_other_lines(self) -> None:
        """What is no line of the kernel is an error that shows it."""
        for line in ("8 0 sda 1 2", "8 0 sda 1 2 3 4 5 6 7 8 9 10 x", "sda"):
            self.assertIn(line, str(self.assertRaises(GanetiError, parse_diskstats, line)))

    def test_this_machine(self) -> None:
        """This machine's own file can be read."""
        found = self.successResultOf(_collect(DiskStats(RealFiles(InlineThreads()))))
        self.assertEqual(len(found), len(Path(DISKSTATS).read_text().splitlines()))


async def _collect(collector: DiskStats) -> list[dict[str, int | str]]:
    return await collector.collect()
