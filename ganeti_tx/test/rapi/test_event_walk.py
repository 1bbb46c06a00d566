"""Any interleaving of events, losses and restarts: every reader gets every event once, in order, or is told of a gap."""

import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxid.events.methods import WAKE_DELAY
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.events.event_feed import RETRY, EventFeed
from ganeti_tx.rapi.events.event_window import EventWindow
from ganeti_tx.rapi.resources.events import followed
from ganeti_tx.sse import SseParser
from ganeti_tx.test.rapi.event_case import Luxid, Reader, call_for, instance
from ganeti_tx.test.rapi.requests import FakeLuxi

READERS = st.integers(0, 2)
#: What luxid and the Remote API daemon keep in this walk.
KEPT, KEPT_HERE = 12, 5


class EventWalk(RuleBasedStateMachine):
    """One luxid, one Remote API daemon, three readers; the third wants every second event only."""

    @initialize()
    def begin(self) -> None:
        """All are there."""
        self.clock = Clock()
        self.luxid = Luxid(self.clock, kept=KEPT)
        self.history: dict[int, list[str]] = {self.luxid.epoch: []}
        self.start_rapi()
        self.readers = [Reader(SseParser()) for _ in range(3)]
        for reader in self.readers:
            self.connect(reader)

    def start_rapi(self) -> None:
        """The Remote API daemon begins."""
        self.feed = EventFeed(
            follower=self.luxid.client(),
            asker=self.luxid.client(),
            clock=self.clock,
            window=EventWindow(most=KEPT_HERE),
        )

    def connect(self, reader: Reader) -> None:
        """A reader comes, as server-sent events want it."""
        reader.drop()
        reader.parser.lost()
        arguments = {"object": ["even"]} if reader is self.readers[2] else {}
        call = call_for(self.feed, reader.parser.last_id or None, arguments, Caller("x"), FakeLuxi())
        results: list[Any] = []
        Deferred.fromCoroutine(followed(call)).addBoth(results.append)
        reader.ended, reader.fast = False, True
        reader.read(results[0])

    @rule(count=st.sampled_from([1, 2, 3, 4, KEPT + 4]), heard=st.booleans())
    def happen(self, count: int, heard: bool) -> None:
        """Events; sometimes more than are kept, and at once heard of or not."""
        told = self.history[self.luxid.epoch]
        for _ in range(count):
            name = f"{'odd' if len(told) % 2 else 'even'}.{len(told)}"
            told.append(name)
            self.luxid.add(instance(name))
        if heard:
            self.pass_time(2 * WAKE_DELAY)

    @rule(seconds=st.sampled_from([WAKE_DELAY, RETRY, 20.0]))
    def pass_time(self, seconds: float) -> None:
        """Time goes by."""
        self.clock.pump([seconds / 2, seconds / 2])

    @rule(number=READERS)
    def drop(self, number: int) -> None:
        """A connection is lost."""
        self.readers[number].drop()

    @rule(number=READERS)
    @precondition(lambda self: self.luxid.up)
    def come_again(self, number: int) -> None:
        """A reader (re)connects and says where it was."""
        self.connect(self.readers[number])

    @rule(number=READERS)
    def be_slow_or_fast(self, number: int) -> None:
        """A reader takes no more than the piece that comes next, or everything again."""
        reader = self.readers[number]
        if reader.fast:
            reader.fast = False
        else:
            reader.go_on()

    @rule(what=st.sampled_from(["the Remote API", "luxid", "luxid, later"]))
    def restart(self, what: str) -> None:
        """All connections to it are lost; luxid may be away for a while."""
        if what == "the Remote API":
            for reader in self.readers:
                reader.drop()
            self.feed.close()
            self.start_rapi()
        elif what == "luxid" or not self.luxid.up:
            self.luxid.stop()
            self.luxid.start()
            self.history[self.luxid.epoch] = []
        else:
            self.luxid.stop()

    @invariant()
    def nothing_is_missing(self) -> None:
        """What a reader has is whole between gaps, and each event is there once."""
        for number, reader in enumerate(self.readers):
            self.check(reader, every_second=number == 2)

    def check(self, reader: Reader, every_second: bool) -> None:
        """One reader's events, one by one."""
        begin = reader.raw.partition(b"id: ")[2].partition(b"\n")[0].decode()
        if not begin:
            return
        epoch, place = self.place(begin)
        for event in reader.events:
            found_epoch, found = self.place(event.id)
            if event.event == "gap":
                epoch, place = found_epoch, found
                continue
            assert found_epoch == epoch, (event, epoch)
            name = json.loads(event.data)["name"]
            assert self.history[epoch][found - 1] == name, event
            between = self.history[epoch][place : found - 1]
            wanted = [each for each in between if not every_second or each.startswith("even")]
            assert not wanted, f"{wanted} missing before {event}"
            assert found > place, f"{event} came twice"
            place = found
        last_epoch, last = self.place(reader.parser.last_id)
        assert last_epoch == epoch and last >= place
        if every_second:  # its id may be ahead of its events, but only beyond what it does not want
            assert not [each for each in self.history[epoch][place:last] if each.startswith("even")]
        else:
            assert last == place, (reader.parser.last_id, place)

    def place(self, id: str) -> tuple[int, int]:
        """Epoch and number of an id."""
        epoch, _, number = id.removeprefix("e").partition("-")
        return int(epoch), int(number)

    def teardown(self) -> None:
        """In the end everybody gets everything, and nothing is left."""
        if not self.luxid.up:
            self.restart("luxid")
        for reader in self.readers:
            self.connect(reader)
        self.happen(2, heard=True)
        for _ in range(3):  # who is cut off comes again
            self.clock.pump([RETRY] * 20)
            for reader in self.readers:
                if reader.ended:
                    self.connect(reader)
        self.nothing_is_missing()
        for reader in self.readers:
            epoch, last = self.place(reader.parser.last_id)
            assert (epoch, last) == (self.luxid.epoch, len(self.history[epoch])), reader.parser.last_id
            reader.drop()
        assert not self.clock.getDelayedCalls(), self.clock.getDelayedCalls()


class EventWalkTests(SynchronousTestCase):
    """The walk."""

    def test_walks(self) -> None:
        """Many random walks."""
        run_state_machine_as_test(EventWalk, settings=settings(max_examples=100, stateful_step_count=50, deadline=None))
