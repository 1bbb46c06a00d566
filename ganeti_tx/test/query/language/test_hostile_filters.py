"""Filters that are made to hold up the daemon: others have their turn meanwhile, and there is an end."""

import itertools
from typing import Any

from msgspec.structs import replace
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock, deferLater
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import QueryFilterParseError
from ganeti_tx.query.collect import Queries
from ganeti_tx.query.language.filter import STRIDE
from ganeti_tx.query.language.slices import LIMIT, SLICE, Slices
from ganeti_tx.query.resources import make_queries
from ganeti_tx.query.view import Views
from ganeti_tx.test.fakes.rpc import FakeNodeRpc
from ganeti_tx.test.model.samples import CONFIG, INSTANCE
from ganeti_tx.test.query.case import FakeJobs

COUNT = 2 * STRIDE
INSTANCES = [
    replace(INSTANCE, uuid=f"instance-uuid-{number}", name=f"web{number:04}.example.com") for number in range(COUNT)
]
#: One search that is allowed takes some ms of these.
COSTLY = "e*e*e*e*z"


class HostileFilterTests(SynchronousTestCase):
    """A query of many instances, where each piece of work takes a millisecond of the stopwatch."""

    def setUp(self) -> None:
        """The reactor's turns are counted."""
        self.clock = Clock()
        self.turns = 0
        ticks = itertools.count()
        slices = Slices(self.rest, lambda: next(ticks) * SLICE / 10)
        config = replace(CONFIG, instances={each.uuid: each for each in INSTANCES})
        self.queries: Queries = make_queries(Views(lambda: config), FakeNodeRpc(), lambda: (), FakeJobs(dict), slices)

    def rest(self) -> "Deferred[None]":
        """Until the reactor's next turn."""
        self.turns += 1
        return deferLater(self.clock, 1, lambda: None)

    def ask(self, condition: Any) -> "Deferred[Any]":
        """The names of the instances that pass."""
        return Deferred.fromCoroutine(self.queries.query("instance", ["name"], condition))

    def finish(self, asked: "Deferred[Any]") -> "Deferred[Any]":
        """Turn the reactor until the answer is there."""
        while not asked.called:
            self.clock.advance(1)
        return asked

    def test_patterns(self) -> None:
        """A hundred patterns over all rows end within the budget of the query, not of each of them."""
        asked = self.finish(self.ask(["|", *[["=~", "name", f"{COSTLY}{number}"] for number in range(100)]]))
        text = str(self.failureResultOf(asked, QueryFilterParseError).value)
        self.assertIn(f"more than {LIMIT:g} seconds", text)
        self.assertGreater(self.turns, LIMIT / SLICE / 2)

    def test_comparisons(self) -> None:
        """So do thousands of plain comparisons."""
        asked = self.finish(self.ask(["&", ["!", ["|", *[["<", "os", str(number)] for number in range(5000)]]]]))
        self.failureResultOf(asked, QueryFilterParseError)

    def test_others(self) -> None:
        """Who asks for little meanwhile gets it after some turns, long before the other's end."""
        hostile = self.ask(["|", *[["=~", "name", COSTLY]] * 100])
        small = self.finish(self.ask(["=", "name", INSTANCES[3].name]))
        self.assertEqual(self.successResultOf(small)["data"], [((0, INSTANCES[3].name),)])
        self.assertNoResult(hostile)
        self.assertLess(self.turns, 10)
        hostile.cancel()
        self.failureResultOf(hostile, CancelledError)

    def test_usual(self) -> None:
        """A usual filter finds what it finds."""
        asked = self.finish(self.ask(["&", ["=~", "name", "^web001.*"], ["!", ["=~", "name", "5"]]]))
        self.assertEqual(len(self.successResultOf(asked)["data"]), 9)

    def test_too_many_patterns(self) -> None:
        """What would take long to compile is refused at once."""
        error = self.failureResultOf(self.ask(["|", *[["=~", "name", f"x{each}"] for each in range(2000)]])).value
        self.assertIsInstance(error, QueryFilterParseError)
        self.assertIn("use fewer", str(error))
        self.assertEqual(self.turns, 0)
