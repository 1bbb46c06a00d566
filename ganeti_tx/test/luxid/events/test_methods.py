"""The event log and the method by which it is followed."""

from typing import Any

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.luxi.method_table import Effect
from ganeti_tx.luxi.own_methods import ALL_METHODS
from ganeti_tx.luxid.dispatch import LuxiDispatch
from ganeti_tx.luxid.events.log import EventLog
from ganeti_tx.luxid.events.methods import MOST_BYTES, MOST_EVENTS, MOST_OBJECTS, WAKE_DELAY, EventMethods
from ganeti_tx.model.events import Event, InstanceEvent, Kind, LogEvent, NodeEvent


def instance(name: str = "web1.example.com", time: float = 1.0) -> InstanceEvent:
    """An instance was added."""
    return InstanceEvent(time=time, change="added", uuid=f"uuid-of-{name}", name=name, new_serial=1)


def node(name: str = "node1.example.com") -> NodeEvent:
    """A node was added."""
    return NodeEvent(time=1.0, change="added", uuid=f"uuid-of-{name}", name=name, new_serial=1)


class EventMethodCase(SynchronousTestCase):
    """A log of ten events at most."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.events = EventMethods(EventLog("e", max_events=10), self.clock)
        self.dispatch = LuxiDispatch(self.events.table())

    def add(self, *events: Event) -> None:
        """They happen."""
        for event in events:
            self.events.add(event)

    def ask(
        self, after: str | None, kinds: list[str] | None = None, objects: list[str] | None = None, timeout: int = 60,
        limit: int = 100,
    ) -> "Deferred[Any]":  # fmt: skip
        """One request."""
        return Deferred.fromCoroutine(self.dispatch("WaitForEvents", [after, kinds, objects, timeout, limit], None))

    def get(self, *args: Any, **more: Any) -> tuple[list[str], str, str | None]:
        """Its answer, which is there: the ids, where to go on, and the gap."""
        events, last, gap = self.successResultOf(self.ask(*args, **more))
        return [id for id, _ in events], last, gap


class OrderTests(EventMethodCase):
    """Ids, and what follows them."""

    def test_begin(self) -> None:
        """Without an id only the present end is told, at once."""
        self.assertEqual(self.get(None), ([], "e-0", None))
        self.add(instance(), node())
        self.assertEqual(self.get(None), ([], "e-2", None))

    def test_after(self) -> None:
        """What came after an id is there, in its order, as it was added."""
        self.add(instance(), node(), instance("web2"))
        self.assertEqual(self.get("e-0"), (["e-1", "e-2", "e-3"], "e-3", None))
        self.assertEqual(self.get("e-2"), (["e-3"], "e-3", None))
        ((_, raw),) = self.successResultOf(self.ask("e-2"))[0]
        self.assertEqual(msgspec.json.decode(bytes(raw), type=InstanceEvent), instance("web2"))

    def test_wait(self) -> None:
        """Who has everything waits; what happens together comes in one answer."""
        waiting = self.ask("e-0")
        self.add(instance(), node())
        self.assertNoResult(waiting)
        self.clock.advance(WAKE_DELAY)
        events, last, gap = self.successResultOf(waiting)
        self.assertEqual(([id for id, _ in events], last, gap), (["e-1", "e-2"], "e-2", None))
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_time_is_up(self) -> None:
        """When nothing happens the answer is empty, after 89 seconds at the latest."""
        waiting = self.ask("e-0", timeout=1000)
        self.clock.advance(88.9)
        self.assertNoResult(waiting)
        self.clock.advance(0.2)
        self.assertEqual(self.successResultOf(waiting), ([], "e-0", None))
        self.assertEqual(self.get("e-0", timeout=0), ([], "e-0", None))
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_hang_up(self) -> None:
        """Who hangs up is forgotten; the method is one that only reads."""
        self.assertIs(ALL_METHODS["WaitForEvents"].effect, Effect.WAITS)
        waiting = self.ask("e-0")
        waiting.addErrback(lambda failure: None)
        waiting.cancel()
        self.assertEqual(self.clock.getDelayedCalls(), [])
        self.add(instance())
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_limits(self) -> None:
        """An answer holds so many events, and so many bytes, but at least one; the rest is in the next."""
        self.add(*[instance(str(number)) for number in range(5)])
        self.assertEqual(self.get("e-0", limit=2), (["e-1", "e-2"], "e-2", None))
        self.assertEqual(self.get("e-2", limit=0), (["e-3"], "e-3", None))
        big = LogEvent(time=1.0, job=1, index=0, serial=1, type="message", text="x" * (MOST_BYTES * 3 // 5))
        self.add(big, big)
        self.assertEqual(self.get("e-5"), (["e-6"], "e-6", None))
        self.events.log = EventLog("f", max_events=MOST_EVENTS + 1)
        self.add(*[node()] * (MOST_EVENTS + 1))
        self.assertEqual(len(self.get("f-0", limit=10**9)[0]), MOST_EVENTS)


class GapTests(EventMethodCase):
    """What is not known is said."""

    def test_overrun(self) -> None:
        """Events that have made way are a gap; the last one before those that are left is none."""
        self.add(*[node()] * 13)
        self.assertEqual(self.get("e-2"), ([], "e-13", "overrun"))
        self.assertEqual(self.get("e-3")[0][0], "e-4")

    def test_overrun_by_size(self) -> None:
        """Large events are evicted earlier."""
        self.events.log = EventLog("e", max_bytes=10_000)
        self.add(*[instance("x" * 1000)] * 20)
        self.assertLessEqual(self.events.log.size, 10_000)
        self.assertEqual(self.get("e-0")[2], "overrun")
        self.assertEqual(self.get(f"e-{self.events.log.first - 1}")[1:], ("e-20", None))

    def test_overrun_while_waiting(self) -> None:
        """Also for who waits when more happens at once than is kept."""
        waiting = self.ask("e-0")
        self.add(*[node()] * 13)
        self.clock.advance(WAKE_DELAY)
        self.assertEqual(self.successResultOf(waiting), ([], "e-13", "overrun"))

    def test_restart(self) -> None:
        """An id of another epoch, of the future, or none of ours at all, is from another daemon."""
        self.add(node())
        for other in ("f-1", "e-2", "e-", "-1", "e", "", "e-1x", "e-" + "9" * 200, "e-\u0663"):
            self.assertEqual(self.get(other), ([], "e-1", "restart"), other)


class FilterTests(EventMethodCase):
    """By kind and object."""

    def setUp(self) -> None:
        super().setUp()
        job = LogEvent(time=1.0, job=7, index=0, serial=1, type="message", text="", about=((Kind.INSTANCE, "web1"),))
        self.add(instance(), node(), job, instance("web2.example.com"))

    def test_kinds(self) -> None:
        """Only these kinds; the others count as looked at."""
        self.assertEqual(self.get("e-0", ["node"]), (["e-2"], "e-4", None))
        self.assertEqual(self.get("e-0", ["log", "node"])[0], ["e-2", "e-3"])

    def test_objects(self) -> None:
        """A name, short or long, a uuid or a job id; also what jobs are about."""
        for wanted, found in (
            ("web1.example.com", ["e-1", "e-3"]),
            ("web1", ["e-1", "e-3"]),
            ("uuid-of-web2.example.com", ["e-4"]),
            ("7", ["e-3"]),
            ("web", []),
        ):
            self.assertEqual(self.get("e-0", None, [wanted], timeout=0)[0], found, wanted)
        self.assertEqual(self.get("e-0", ["instance"], ["web1", "web2"])[0], ["e-1", "e-4"])

    def test_waits_for_what_is_wanted(self) -> None:
        """What is not wanted wakes nobody for good, and is not looked at again."""
        waiting = self.ask("e-4", ["node"])
        self.add(instance())
        self.clock.advance(WAKE_DELAY)
        self.assertNoResult(waiting)
        self.add(node())
        self.clock.advance(WAKE_DELAY)
        self.assertEqual(self.successResultOf(waiting)[1], "e-6")

    def test_bad_filter(self) -> None:
        """An unknown kind is refused with the known ones, and so is a list without end."""
        error = self.failureResultOf(self.ask(None, ["colour"]), OpPrereqError).value
        self.assertIn("unknown kind of events 'colour'; known are job, opcode, log, instance", str(error))
        self.failureResultOf(self.ask(None, None, ["x"] * (MOST_OBJECTS + 1)), OpPrereqError)
