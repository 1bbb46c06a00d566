"""Whom the events of the cluster are shown to, and the one who follows them for all."""

import json

from ganeti_tx.luxi.transport_errors import NoMasterError
from ganeti_tx.model.scope import Scope
from ganeti_tx.rapi.caller import Caller
from ganeti_tx.rapi.events.event_feed import RETRY
from ganeti_tx.test.rapi.event_case import CLUSTER, EventStreamCase, instance


class ScopeTests(EventStreamCase):
    """A scoped user."""

    def setUp(self) -> None:
        super().setUp()
        self.caller = Caller("web", frozenset({Scope("tag", "web")}))
        self.seen = [["web1.example.com"]]
        self.jobs = {1: "running"}
        self.luxi.answers["QueryInstances"] = lambda *args: list(self.seen)
        self.luxi.answers["QueryJobs"] = lambda ids, fields: [[number, self.jobs.get(number)] for number in ids]

    def test_only_his(self) -> None:
        """His own instances, and nothing else of the configuration."""
        reader = self.read()
        self.happen(instance("web1.example.com"), instance("db1.example.com"), CLUSTER)
        self.assertEqual(reader.names, ["web1.example.com"])

    def test_gone(self) -> None:
        """An instance that he saw until now is told of once more."""
        reader = self.read()
        self.happen(instance("web1.example.com"))
        self.seen.clear()
        self.happen(instance("web1.example.com"))
        self.happen(instance("web1.example.com"))
        self.assertEqual(len(reader.events), 2)

    def test_jobs(self) -> None:
        """Jobs that his queries show, and what belongs to them."""
        from_job = [
            {"kind": kind, "time": 1.0, "job": number} for number in (1, 2) for kind in ("job", "opcode", "log")
        ]
        reader = self.read()
        for number, event in enumerate(from_job):
            self.feed.window.append(self.luxid.events.log.end._replace(number=number + 1), event)
        self.feed._condition.notify_all()
        self.assertEqual([event.event for event in reader.events], ["job", "opcode", "log"])
        self.assertEqual([json.loads(event.data)["job"] for event in reader.events], [1, 1, 1])

    def test_cannot_tell(self) -> None:
        """When it cannot be found out what he may see, the stream ends and nothing is sent."""
        self.luxi.answers["QueryInstances"] = NoMasterError("nobody")
        reader = self.read()
        self.happen(instance("web1.example.com"))
        self.assertEqual((reader.events, reader.ended), ([], True))
        self.luxi.answers["QueryInstances"] = lambda *args: list(self.seen)
        self.connect(reader)
        self.pass_time()
        self.assertEqual(reader.names, ["web1.example.com"])


class FollowerTests(EventStreamCase):
    """The one who follows luxid for all."""

    def test_closed(self) -> None:
        """When the daemon ends so do all streams, at once and with all that was to be told; nothing is left to be done."""
        reader, behind = self.read(), self.read("e1-0")
        self.happen(instance("a"))
        self.feed.close()
        self.assertEqual((reader.ended, behind.ended), (True, True))
        self.assertEqual((reader.names, behind.names), (["a"], ["a"]))
        late = self.read("e1-1")
        self.assertTrue(late.ended)
        self.assertEqual(self.clock.getDelayedCalls(), [])

    def test_ends_while_it_is_told(self) -> None:
        """A stream that ends because of what it is told stops the following, and the next one starts it once."""
        self.caller = Caller("web", frozenset({Scope("tag", "web")}))
        self.luxi.answers["QueryInstances"] = NoMasterError("nobody")
        reader = self.read()
        self.happen(instance("a"))
        self.assertTrue(reader.ended)
        self.assertEqual(self.clock.getDelayedCalls(), [])
        self.caller = Caller("tester")
        self.connect(reader)
        self.happen(instance("b"))
        self.assertEqual(reader.names, ["a", "b"])
        self.assertEqual(sum(len(client.waiting) for client in self.luxid.clients), 1)

    def test_nonsense(self) -> None:
        """An answer that cannot be used is as none: it is asked again later."""
        reader = self.read()
        self.luxid.events.log.epoch = ""
        self.pass_time(120)
        self.luxid.start()
        self.happen(instance("a"))
        self.pass_time()
        self.assertEqual((reader.ended, reader.names), (False, ["gap"]))

    def test_fault(self) -> None:
        """After a fault of ours the following begins anew, and readers miss nothing."""
        reader = self.read()
        self.feed.window.most = None  # type: ignore[assignment]
        self.happen(instance("a"))
        self.assertEqual(len(self.flushLoggedErrors(TypeError)), 1)
        self.luxid.add(instance("b"))
        self.feed.window.most = 10
        self.pass_time(2 * RETRY)
        self.happen(instance("c"))
        self.assertEqual((reader.names, reader.ended), (["a", "b", "c"], False))
