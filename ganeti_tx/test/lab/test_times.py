"""The page of the tests on machines and their times."""

from pathlib import Path

from twisted.trial.itrial import IReporter
from twisted.trial.reporter import TestResult
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.lab.times import NAME, PAGES, TimeReporter, known, text


class TimesTests(SynchronousTestCase):
    """What a campaign notes."""

    def test_noted(self) -> None:
        """What passes comes to the page, beside what is there; what fails does not."""

        class Some(SynchronousTestCase):
            def test_passing(self) -> None:
                pass

            def test_failing(self) -> None:
                self.fail("as it must")

        page, before = Path(self.mktemp()) / NAME, {"test_a.Some.test_it": 65, "test_z.Some.test_it": 1}
        page.parent.mkdir()
        page.write_text(text(before))
        for name in ("test_passing", "test_failing"):
            Some(name).run(TimeReporter(IReporter(TestResult()), page.parent))
        self.assertEqual({name.rpartition(".")[2] for name in known(page)}, {"test_it", "test_passing"})
        self.assertEqual({**known(page), **before}, known(page))

    def test_page(self) -> None:
        """It is as it was written."""
        self.assertEqual((PAGES / NAME).read_text(), text(known(PAGES / NAME)))
