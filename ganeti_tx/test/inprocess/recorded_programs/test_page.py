"""The page about the record says what the record has; each reason in it is the reason of something."""

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.inprocess.recorded_programs import page
from ganeti_tx.test.inprocess.recorded_programs.differences import BY_KEY
from ganeti_tx.test.inprocess.recorded_programs.kinds.outcomes import OUTCOMES

#: So many lines were recorded of the programs.
RECORDED = {
    "backup": 62,
    "cluster": 303,
    "debug": 58,
    "filter": 32,
    "group": 104,
    "job": 81,
    "network": 97,
    "node": 214,
    "os": 35,
}


class PageTests(SynchronousTestCase):
    """The page, and the records behind it."""

    maxDiff = None

    def test_page(self) -> None:
        """It is as the records make it; what it should be is in a file of the test's directory."""
        wanted = page.page()
        if page.PAGE.read_text() != wanted:
            page.WRITTEN.write_text(wanted)
            self.fail(f"doc/recorded.rst is another; what it should be is in {page.WRITTEN.absolute()}")

    def test_whole(self) -> None:
        """No recorded line is missing."""
        self.assertEqual({program: len(page.lines(program)) for program in page.PROGRAMS}, RECORDED)

    def test_reasons(self) -> None:
        """Each line that differs, ends otherwise or is not played has reasons that are declared, and none is idle."""
        each = [line for program in page.PROGRAMS for line in page.lines(program)]
        self.assertEqual(set(page.differing(each)), set(BY_KEY))
        self.assertEqual(set(page.ending(each)), set(OUTCOMES))
        self.assertEqual({line["apart"] for line in each if "apart" in line}, set(page.APART))
        self.assertEqual([line["argv"] for line in each if "ends" in line and line["ends"] == line["status"]], [])
