"""LUXI methods of our own beside those of Ganeti."""

import json

from twisted.internet.defer import Deferred

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.luxi.limits import Limits
from ganeti_tx.luxi.methods import METHODS
from ganeti_tx.luxi.own_methods import ALL_METHODS, OWN_METHODS, Events
from ganeti_tx.luxi.server import LuxiFactory
from ganeti_tx.luxi.transport_errors import ProtocolError
from ganeti_tx.metrics.readings import Readings, Value
from ganeti_tx.test.luxi.server_case import TAGS, WAIT, Connection, ServerTestCase, request
from ganeti_tx.test.luxi.test_methods import RecordingAsyncCalls


class TableTests(ServerTestCase):
    """The table that our daemon answers."""

    def test_ganetis_methods_are_the_same(self) -> None:
        """Ours come after Ganeti's, under other names; not one of Ganeti's gives way."""
        own = OWN_METHODS.names
        self.assertEqual(ALL_METHODS.names, METHODS.names + own)
        self.assertEqual(set(METHODS.names) & set(own), set())
        self.assertEqual([METHODS[name] for name in METHODS.names], [ALL_METHODS[name] for name in METHODS.names])
        self.assertFalse(any(METHODS[name].gives_way for name in METHODS.names))


class WaitForEventsTests(ServerTestCase):
    """WaitForEvents at both ends."""

    def test_call(self) -> None:
        """What the client sends passes the server's check, and the answer gets its types."""
        luxi = RecordingAsyncCalls([[["e-1", {"kind": "job"}]], "e-2", None])
        got = self.successResultOf(Deferred.fromCoroutine(luxi.wait_for_events("e-0", ["job"], None, 5, 10)))
        self.assertEqual(got, Events([("e-1", {"kind": "job"})], "e-2", None))
        ((method, sent),) = luxi.calls
        self.assertEqual(ALL_METHODS[method].read(json.loads(json.dumps(sent))), ["e-0", ["job"], None, 5, 10])

    def test_wrong_answer(self) -> None:
        """What is no such answer is an error."""
        wrong: list[object] = [None, [], [[["e-1"]], "e-1", None], [[], None, None]]
        for answer in wrong:
            work = Deferred.fromCoroutine(RecordingAsyncCalls(answer).wait_for_events(None))
            self.failureResultOf(work, ProtocolError)

    def test_wrong_arguments(self) -> None:
        """Arguments are checked as those of any method."""
        error = self.assertRaises(OpPrereqError, ALL_METHODS["WaitForEvents"].read, [1, None, None, 5, 10])
        self.assertEqual(error.args[1], ECode.INVAL)

    def test_gives_way(self) -> None:
        """When all places are taken, who waits for events goes, and its wait is cancelled; others who wait stay."""
        limits = Limits(connections=2)
        factory = LuxiFactory(self.dispatch, self.clock, methods=ALL_METHODS, limits=limits)
        follower, waiting = Connection(factory), Connection(factory)
        follower.send(request("QueryTags", "cluster", ""))
        follower.send(request("WaitForEvents", None, None, None, 60, 10))
        waiting.send(WAIT)
        self.clock.advance(1)
        another = Connection(factory)
        another.send(TAGS)
        self.assertTrue(another.answers()[0][0])
        self.assertTrue(follower.transport.disconnecting)
        self.assertFalse(waiting.transport.disconnecting)
        follower.lose()
        self.assertEqual(self.dispatch.cancelled, 1)

    def test_keeps_its_place_afterwards(self) -> None:
        """The next request on the same connection is as good as any other."""
        factory = LuxiFactory(self.dispatch, self.clock, methods=ALL_METHODS, limits=Limits(connections=1))
        follower = Connection(factory)
        follower.send(request("WaitForEvents", None, None, None, 60, 10))
        self.dispatch.waiting.pop().callback([])
        follower.send(WAIT)
        self.assertIn("Too many connections", Connection(factory).answers()[0][1])
        self.assertFalse(follower.transport.disconnecting)


class WithdrawCallerTests(ServerTestCase):
    """WithdrawCaller at both ends."""

    def test_call(self) -> None:
        """What a client sends passes the server's check; times before all times do not."""
        luxi = RecordingAsyncCalls(True)
        self.assertIs(self.successResultOf(Deferred.fromCoroutine(luxi.withdraw_caller("token:ci", 5))), True)
        self.assertEqual([ALL_METHODS[method].read(sent) for method, sent in luxi.calls], [["token:ci", 5]])
        for args in (["token:ci", -1], ["token:ci"], [1, 5]):
            self.assertRaises(OpPrereqError, ALL_METHODS["WithdrawCaller"].read, args)


class QueryMetricsTests(ServerTestCase):
    """QueryMetrics at both ends."""

    def test_call(self) -> None:
        """What the client sends passes the server's check, and the answer gets its types."""
        luxi = RecordingAsyncCalls({"values": {"ganeti_config_serial": [[[], 3]]}})
        got = self.successResultOf(Deferred.fromCoroutine(luxi.query_metrics()))
        self.assertEqual(got, Readings(values={"ganeti_config_serial": [Value((), 3.0)]}))
        self.assertEqual([ALL_METHODS[method].read(sent) for method, sent in luxi.calls], [[]])

    def test_wrong_answer(self) -> None:
        """What is no such answer, or one whose form is not known here, is an error."""
        wrong: list[object] = [None, [], {"values": {"ganeti_config_serial": [[3, []]]}}, {"version": 2}]
        for answer in wrong:
            work = Deferred.fromCoroutine(RecordingAsyncCalls(answer).query_metrics())
            self.failureResultOf(work, ProtocolError)
