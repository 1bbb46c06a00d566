"""Long work leaves room for others, and has an end."""

from collections.abc import Iterator
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import QueryFilterParseError
from ganeti_tx.query.language.slices import LIMIT, SLICE, Budget, Slices, Work, at_once

#: Seconds that a piece of the work here takes; a power of two, so that sums are exact.
PIECE = 2.0**-9


class SliceTests(SynchronousTestCase):
    """Works that write down what they do, on a stopwatch that they drive."""

    def setUp(self) -> None:
        """Rests end when the test says so."""
        self.worked = 0.0
        self.log: list[str] = []
        self.rests: list[Deferred[None]] = []
        self.slices = Slices(self.rest, lambda: self.worked)

    def rest(self) -> "Deferred[None]":
        """Others have their turn."""
        self.log.append("rest")
        self.rests.append(Deferred())
        return self.rests[-1]

    def go_on(self) -> None:
        """The rest is over."""
        self.rests.pop(0).callback(None)

    def work(self, name: str, pieces: int) -> Work[str]:
        """So many pieces."""
        for _ in range(pieces):
            yield
            self.worked += PIECE
            self.log.append(name)
        return f"{name} is done"

    def start(self, name: str, pieces: int, budget: Budget | None = None) -> "Deferred[str]":
        """Begin with a work."""
        return Deferred.fromCoroutine(self.slices.run(self.work(name, pieces), budget))

    def runs(self) -> Iterator[tuple[str, float]]:
        """Who worked between two rests, and for how long."""
        for run in " ".join(self.log).split("rest"):
            names = run.split()
            yield "".join(sorted(set(names))), len(names) * PIECE

    def test_short(self) -> None:
        """What is short is done at once."""
        self.assertEqual(self.successResultOf(self.start("a", 2)), "a is done")
        self.assertEqual(self.log, ["a", "a"])

    def test_slices(self) -> None:
        """What is long rests after each slice."""
        done = self.start("a", 40)
        while self.rests:
            self.assertNoResult(done)
            self.go_on()
        self.assertEqual(self.successResultOf(done), "a is done")
        self.assertLessEqual(max(spent for _, spent in self.runs()), SLICE + PIECE)
        self.assertEqual(self.log.count("a"), 40)

    def test_one_at_a_time(self) -> None:
        """However many works there are, between two rests there is one slice of one of them, in turn."""
        done = [self.start(name, 20) for name in "abc"]
        while self.rests:
            self.assertEqual(len(self.rests), 1)
            self.go_on()
        self.assertEqual([self.successResultOf(each) for each in done], [f"{name} is done" for name in "abc"])
        runs = list(self.runs())
        self.assertEqual([name for name, _ in runs][:6], ["a", "b", "c"] * 2)
        self.assertLessEqual(max(spent for _, spent in runs), SLICE + PIECE)

    def test_budget(self) -> None:
        """All works of one budget together end when it is used up; the error says what the limit is and what to do."""
        budget = Budget()
        most = int(LIMIT / PIECE)
        for name in "ab":
            done = self.start(name, most * 3 // 4, budget)
            while self.rests:
                self.go_on()
            if name == "a":
                self.successResultOf(done)
        text = str(self.failureResultOf(done, QueryFilterParseError).value)
        self.assertIn(f"{LIMIT:g} seconds", text)
        self.assertIn("fewer or simpler", text)
        self.assertEqual(self.successResultOf(self.start("c", 1)), "c is done")

    def test_cancelled(self) -> None:
        """Who hangs up leaves his turn to others, whether he works or waits."""
        first, second, third = (self.start(name, 20) for name in "abc")
        second.cancel()
        first.cancel()
        for each in (first, second):
            self.failureResultOf(each, CancelledError)
        while self.rests:
            rest = self.rests.pop(0)
            if not rest.called:
                rest.callback(None)
        self.successResultOf(third)
        self.assertNotIn("b", self.log)

    def test_failure(self) -> None:
        """What goes wrong in the work is told, and the turn passes on."""

        def broken() -> Work[None]:
            yield
            raise ValueError("broken")

        self.failureResultOf(Deferred.fromCoroutine(self.slices.run(broken())), ValueError)
        self.successResultOf(self.start("a", 1))

    def test_at_once(self) -> None:
        """The same without turns, for who has nobody to wait for."""
        result: Any = at_once(self.work("a", 40))
        self.assertEqual((result, self.log), ("a is done", ["a"] * 40))
