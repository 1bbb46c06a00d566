"""The page of the tests on machines that have passed in a campaign, with the time that each took."""

import time
from collections.abc import Mapping
from pathlib import Path

from twisted.python.components import proxyForInterface
from twisted.trial.itrial import IReporter

from ganeti_tx.test.contracts.operations_page import grid

#: Set by `bin/lab campaign --pages`: the directory of the pages that tests on machines write when they pass.
PAGES_VARIABLE = "GANETI_LAB_PAGES"
PAGES = Path(__file__).parents[3] / "doc"
NAME = "lab-times.rst"
PREFIX = "ganeti_tx.test.lab."
HEAD = """\
The tests on machines, and how long they take
=============================================

``bin/lab campaign --pages`` runs the tests of ``ganeti_tx/test/lab`` upon Debian machines with LVM and DRBD and writes this page:
those that have passed, each with the seconds that it took the last time. The machines are emulated in software and share the
processors of theirs with whatever else runs there; the first test of a run includes the time in which they boot and become a
cluster.
"""


class TimeReporter(proxyForInterface(IReporter, "_reporter")):  # type: ignore[misc]  # made at run time
    """Has each test that passes be on the page."""

    def __init__(self, reporter: object, pages: Path) -> None:
        super().__init__(reporter)
        self._page = pages / NAME
        self._begun = time.monotonic()

    def startTest(self, test: object) -> None:
        """See `IReporter`."""
        self._begun = time.monotonic()
        self._reporter.startTest(test)

    def addSuccess(self, test: object) -> None:
        """See `IReporter`."""
        name = test.id().removeprefix(PREFIX)  # type: ignore[attr-defined]  # any test has one
        seconds = {**known(self._page), name: round(time.monotonic() - self._begun)}
        self._page.write_text(text(seconds))
        self._reporter.addSuccess(test)


def text(seconds: Mapping[str, int]) -> str:
    """All of it."""
    rows = [(name, str(seconds[name])) for name in sorted(seconds)]
    total = f"Tests: {len(rows)}. Minutes: {round(sum(seconds.values()) / 60)}."
    return "\n".join([HEAD, *grid([("test", "seconds"), *rows]), "", total, ""])


def known(page: Path) -> Mapping[str, int]:
    """The tests that are on it."""
    words = [line.split() for line in page.read_text().splitlines()] if page.exists() else []
    return {name: int(seconds) for name, seconds in (each for each in words if len(each) == 2) if seconds.isdecimal()}
