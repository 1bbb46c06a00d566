"""Streams of events: what readers get, how they go on after a loss, and when they are cut off."""

import json
from typing import Any

from twisted.internet.defer import Deferred

from ganeti_tx.errors import GanetiError
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.events.event_feed import ASK_WAIT, RETRY
from ganeti_tx.rapi.events.event_stream import HEARTBEAT, LIFETIME, TIMEOUT
from ganeti_tx.rapi.http.http_errors import HttpError
from ganeti_tx.rapi.resources.events import followed
from ganeti_tx.test.rapi.event_case import CLUSTER, EventStreamCase, instance


class ContentTests(EventStreamCase):
    """What is in a stream."""

    def test_begin(self) -> None:
        """The place is told at once, and the pause before the next try; then what happens, with its id and kind."""
        self.happen(instance("old"))
        reader = self.read()
        self.assertEqual(reader.raw, b"retry: 1000\n\nid: e1-1\n\n")
        self.happen(instance("web1"))
        ((event),) = reader.events
        self.assertEqual((event.id, event.event), ("e1-2", "instance"))
        self.assertEqual(
            json.loads(event.data),
            {
                "kind": "instance", "time": 1.0, "change": "added", "uuid": "uuid-of-web1", "name": "web1",
                "new_serial": 1,
            },
        )  # fmt: skip

    def test_filter(self) -> None:
        """Kinds and objects, separated by commas; short names are enough."""
        kinds, objects = self.read(kind="cluster,node"), self.read(object="web2,web3", kind="instance")
        self.happen(instance("web1.example.com"), instance("web2.example.com"), CLUSTER)
        self.assertEqual(kinds.names, ["cluster"])
        self.assertEqual(objects.names, ["web2.example.com"])

    def test_sign_of_life(self) -> None:
        """When nothing happens that is wanted a comment is sent, with the id if that has moved."""
        reader = self.read(kind="node")
        reader.raw = b""
        self.pass_time(HEARTBEAT)
        self.assertEqual(reader.raw, b":\n\n")
        self.happen(CLUSTER)
        self.assertEqual(reader.raw, b":\n\n")
        self.pass_time(HEARTBEAT)
        self.assertEqual(reader.raw, b":\n\n:\n\nid: e1-1\n\n")
        self.pass_time(HEARTBEAT)
        self.assertEqual(reader.raw, b":\n\n:\n\nid: e1-1\n\n:\n\n")

    def test_one_follower(self) -> None:
        """However many readers there are, luxid is asked by one; without any by nobody."""
        readers = [self.read() for _ in range(5)]
        follower = self.luxid.clients[0]
        before = follower.asked
        self.happen(CLUSTER)
        self.assertEqual([reader.names for reader in readers], [["cluster"]] * 5)
        self.assertEqual(follower.asked, before + 1)
        for reader in readers:
            reader.drop()
        self.assertEqual(self.clock.getDelayedCalls(), [])
        self.assertEqual(follower.waiting, [])


class ResumeTests(EventStreamCase):
    """Going on after a loss: nothing is missing, nothing comes twice."""

    kept_here = 10

    def test_reconnect(self) -> None:
        """A dropped connection."""
        reader, other = self.read(), self.read()
        self.happen(instance("a"), instance("b"))
        reader.drop()
        self.happen(instance("c"))
        self.connect(reader)
        self.happen(instance("d"))
        self.assertEqual(reader.names, ["a", "b", "c", "d"])
        self.assertEqual(other.names, ["a", "b", "c", "d"])

    def test_nobody_there_meanwhile(self) -> None:
        """Also when nobody followed luxid in the meantime."""
        reader = self.read()
        self.happen(instance("a"))
        reader.drop()
        self.happen(instance("b"))
        self.connect(reader)
        self.happen(instance("c"))
        self.assertEqual(reader.names, ["a", "b", "c"])

    def test_older_than_what_is_kept_here(self) -> None:
        """What this daemon has no more is asked of luxid."""
        reader, other = self.read(), self.read()
        reader.drop()
        names = [str(number) for number in range(3000)]
        self.luxid.kept = 10_000
        self.luxid.events.log.max_events = 10_000
        for start in range(0, len(names), 10):
            self.happen(*[instance(name) for name in names[start : start + 10]])
        self.connect(reader)
        self.pass_time()
        self.assertEqual(reader.names, names)
        self.assertEqual(other.names, names)

    def test_restart_of_rapi(self) -> None:
        """Ids are luxid's, so another daemon goes on."""
        reader = self.read()
        self.happen(instance("a"))
        reader.drop()
        self.happen(instance("b"))
        self.start_rapi()
        self.connect(reader)
        self.happen(instance("c"))
        self.assertEqual(reader.names, ["a", "b", "c"])

    def test_after(self) -> None:
        """An id in the address counts unless there is one in the header."""
        self.happen(instance("a"), instance("b"), instance("c"))
        self.assertEqual(self.read(after="e1-1").names, ["b", "c"])
        self.assertEqual(self.read("e1-2", after="e1-1").names, ["c"])

    def test_filtered(self) -> None:
        """The filter holds for what was missed too."""
        self.happen(instance("a"), CLUSTER)
        self.assertEqual(self.read("e1-0", kind="cluster").names, ["cluster"])


class GapTests(EventStreamCase):
    """What cannot be told is said to be missing."""

    def gap(self, event: Any) -> tuple[str, str, int]:
        """Id and reason of a gap, and how many kinds are to be read anew."""
        self.assertEqual(event.event, "gap")
        data = json.loads(event.data)
        return event.id, data["reason"], len(data["resync"])

    def test_restart_of_luxid(self) -> None:
        """Who reads is told, and goes on in the new epoch; so is who comes with an old id."""
        reader, away = self.read(), self.read(kind="cluster")
        self.happen(instance("a"))
        away.drop()
        self.luxid.stop()
        self.pass_time()
        self.luxid.start()
        self.happen(instance("b"))
        self.pass_time()
        self.connect(away, kind="cluster")
        self.happen(CLUSTER)
        self.assertEqual(reader.names, ["a", "gap", "cluster"])
        self.assertEqual(self.gap(reader.events[1]), ("e2-1", "restart", 9))
        self.assertEqual(away.names, ["gap", "cluster"])
        self.assertEqual(self.gap(away.events[0]), ("e2-1", "restart", 1))

    def test_overrun(self) -> None:
        """More has happened than luxid keeps."""
        reader = self.read()
        self.happen(instance("a"))
        reader.drop()
        self.happen(*[instance("b")] * 1001)
        self.connect(reader)
        self.happen(instance("c"))
        self.assertEqual(reader.names, ["a", "gap", "c"])
        self.assertEqual(self.gap(reader.events[1])[:2], ("e1-1002", "overrun"))

    def test_overrun_of_the_daemon(self) -> None:
        """Also when this daemon itself has missed something."""
        reader = self.read()
        self.luxid.add(*[instance("b")] * 1001)
        self.pass_time()
        self.happen(instance("c"))
        self.assertEqual(reader.names, ["gap", "c"])

    def test_of_the_future(self) -> None:
        """An id that luxid has not given is from another one."""
        self.assertEqual(self.read("e1-5").names, ["gap"])


class AwayTests(EventStreamCase):
    """luxid does not answer."""

    def test_away(self) -> None:
        """Readers stay, and hear that somebody is there."""
        reader = self.read()
        self.luxid.up = False
        self.luxid.clients[0].close()
        reader.raw = b""
        self.pass_time(HEARTBEAT)
        self.assertEqual((reader.raw, reader.ended), (b":\n\n", False))
        self.luxid.up = True
        self.luxid.add(instance("a"))
        self.pass_time(4 * RETRY)
        self.assertEqual(reader.names, ["a"])

    def test_hangs(self) -> None:
        """Also one whom a luxid that hangs owes what he has missed; a new one is told soon that nothing comes."""
        self.luxid.hangs = True
        reader, new = self.read("e1-0"), Deferred.fromCoroutine(followed(self.call()))
        self.pass_time(ASK_WAIT)
        self.failureResultOf(new, GanetiError)
        for _ in range(2):
            reader.raw = b""
            self.pass_time(HEARTBEAT + ASK_WAIT)
            self.assertIn(b":\n\n", reader.raw)
        self.assertFalse(reader.ended)

    def test_nobody_can_begin(self) -> None:
        """A new reader gets an error as everywhere; one that goes on waits."""
        self.luxid.up = False
        self.failureResultOf(Deferred.fromCoroutine(followed(self.call())))
        reader = self.read("e1-0")
        self.pass_time(2 * RETRY)
        self.luxid.up = True
        self.luxid.add(instance("a"))
        self.pass_time(4 * RETRY)
        self.assertEqual(reader.names, ["a"])


class SlowReaderTests(EventStreamCase):
    """Nobody's slowness costs more than the window that all share."""

    kept_here = 10

    def test_left_behind(self) -> None:
        """Nothing is queued for who does not read; when it reads again it gets what it missed from luxid."""
        slow, other = self.read(), self.read()
        slow.fast = False
        for number in range(20):
            self.happen(instance(str(number)))
        self.assertEqual((slow.names, len(other.names)), (["0"], 20))
        slow.go_on()
        self.pass_time()
        self.assertEqual((slow.ended, slow.names), (False, [str(number) for number in range(20)]))

    def test_cut_off(self) -> None:
        """Who is left behind all the time is cut off, and goes on when it comes again."""
        slow = self.read()
        slow.fast = False
        for number in range(900):
            self.luxid.add(instance(str(number)))
        self.pass_time()
        while not slow.ended:
            self.pass_time(TIMEOUT / 2)
            self.luxid.add(*[instance("more")] * 5)
            slow.go_on(fast=False)
        self.assertLess(len(slow.names), 900)
        self.connect(slow)
        slow.go_on()
        self.pass_time()
        self.assertEqual(slow.names[:900], [str(number) for number in range(900)])

    def test_slow_but_in_time(self) -> None:
        """Who is behind, but not so far, gets it all."""
        slow = self.read()
        slow.fast = False
        for number in range(10):
            self.happen(instance(str(number)))
        slow.go_on()
        self.assertEqual((slow.ended, len(slow.names)), (False, 10))


class LimitTests(EventStreamCase):
    """How many, how long, and what is refused."""

    def refused(self, **arguments: str) -> HttpError:
        """Why a request is refused."""
        error = self.failureResultOf(Deferred.fromCoroutine(followed(self.call(**arguments))), HttpError).value
        assert isinstance(error, HttpError)
        return error

    def test_too_many(self) -> None:
        """Of one caller, and in all; who leaves makes room."""
        self.feed.most, self.feed.most_of_one = 3, 2
        reader, _ = self.read(), self.read()
        error = self.refused()
        self.assertEqual((error.status, error.headers), (503, {"Retry-After": "10"}))
        self.caller = Caller("another")
        self.read()
        self.caller = Caller("third")
        self.assertEqual(self.refused().status, 503)
        reader.drop()
        self.assertFalse(self.read().ended)

    def test_lifetime(self) -> None:
        """A stream ends after some time, so that credentials are looked at again."""
        reader = self.read()
        for _ in range(int(LIFETIME / HEARTBEAT) + 1):
            self.pass_time(HEARTBEAT)
        self.assertTrue(reader.ended)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_bad_arguments(self) -> None:
        """An unknown kind, too many objects and a wrong id are refused with what is allowed."""
        error = self.refused(kind="job,colour")
        self.assertEqual(error.status, 400)
        self.assertIn("'colour'; use job, opcode, log, instance", str(error))
        self.assertEqual(self.refused(object=",".join(map(str, range(101)))).status, 400)
        for wrong in ("x", "-", "e-x", "e-" + "1" * 200):
            self.assertEqual(self.refused(after=wrong).status, 400)

    def test_no_feed(self) -> None:
        """A program without events says so."""
        self.feed = None  # type: ignore[assignment]
        self.assertEqual(self.refused().status, 503)
