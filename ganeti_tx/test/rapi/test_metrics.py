"""`/metrics` through HTTP: what Prometheus gets."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.luxi.transport_errors import NoMasterError
from ganeti_tx.metrics import config, nodes, rapi
from ganeti_tx.metrics.tally import Tally
from ganeti_tx.rapi.http.answers import Stream
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.rapi.resources import metrics
from ganeti_tx.rapi.resources.metrics import ANSWER_LIMIT
from ganeti_tx.test.rapi.requests import Answer, FakeLuxi, Rapi

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def told() -> Any:
    """What luxid answers, as it travels."""
    tally = Tally()
    tally.set(config.SERIAL, 7)
    tally.observe(nodes.CALLS, 0.2, "node1", "version")
    return msgspec.to_builtins(tally.readings())


class PageTests(SynchronousTestCase):
    """The page, with luxid and without."""

    def setUp(self) -> None:
        self.luxi = FakeLuxi({"QueryMetrics": told()})
        self.rapi = Rapi(luxi=self.luxi)

    def samples(self, answer: Answer) -> dict[tuple[str, ...], float]:
        """Every sample of a page by its name and label values."""
        text = answer.body.decode()
        openmetrics = answer.headers["content-type"].startswith("application/openmetrics-text")
        families = list((parse_openmetrics if openmetrics else parse_text)(text))
        return {
            (each.name, *sorted(each.labels.values())): each.value for family in families for each in family.samples
        }

    def test_cluster_and_own(self) -> None:
        """What luxid tells is there, and what is counted here, in both formats."""
        for accept, kind in (("", "text/plain"), (OPENMETRICS, "application/openmetrics-text")):
            answer = Rapi(luxi=self.luxi).get("/metrics", {"Accept": accept} if accept else {})
            self.assertEqual(answer.status, 200)
            self.assertTrue(answer.headers["content-type"].startswith(kind))
            found = self.samples(answer)
            self.assertEqual(found["ganeti_up",], 1)
            self.assertEqual(found["ganeti_config_serial",], 7)
            self.assertEqual(found["ganeti_node_call_seconds_count", "node1", "version"], 1)
            self.assertEqual(found["ganeti_rapi_connections",], 1)
            self.assertGreater(found["ganeti_process_resident_memory_bytes", "ganeti-rapi"], 1024 * 1024)

    def test_luxid_is_away(self) -> None:
        """Without the master daemon the page comes all the same, and says so."""
        self.luxi.answers["QueryMetrics"] = NoMasterError("the master daemon does not run")
        found = self.samples(self.rapi.get("/metrics"))
        self.assertEqual(found["ganeti_up",], 0)
        self.assertNotIn(("ganeti_config_serial",), found)
        self.assertIn(("ganeti_process_resident_memory_bytes", "ganeti-rapi"), found)

    def test_luxid_is_silent(self) -> None:
        """A master daemon that does not answer keeps the page up no longer than the limit."""
        self.luxi.answers["QueryMetrics"] = lambda: Deferred()
        connection = self.rapi.connect()
        self.assertEqual(connection.send(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), [])
        self.rapi.clock.advance(ANSWER_LIMIT)
        (answer,) = connection.answers()
        self.assertEqual(self.samples(answer)["ganeti_up",], 0)

    def test_strange_answers(self) -> None:
        """What is not understood is not shown."""
        answers: list[Any] = [None, [], {"version": 2}, {"values": 3}]
        for answer in answers:
            self.luxi.answers["QueryMetrics"] = answer
            self.assertEqual(self.samples(self.rapi.get("/metrics"))["ganeti_up",], 0, answer)

    def test_access(self) -> None:
        """Who may read may look; nobody else."""
        (operation,) = metrics.OPERATIONS
        self.assertEqual(operation.access, {"read", "write"})


class RequestTests(SynchronousTestCase):
    """What is counted of the Remote API's own requests."""

    def counted(self, api: Rapi) -> dict[tuple[str, ...], float]:
        """The requests so far."""
        return {each.labels: each.value for each in api.measures.readings().values.get(rapi.REQUESTS.name, [])}

    def test_requests(self) -> None:
        """Each request counts under its resource, method and status, whatever the path was."""
        api = Rapi(luxi=FakeLuxi({"QueryClusterInfo": NoMasterError("away")}))
        api.get("/version")
        api.get("/version")
        api.get("/2/info")
        api.get("/nowhere/at/all")
        api.request("PUT", "/version")
        found = self.counted(api)
        self.assertEqual(found["version", "GET", "200"], 2)
        self.assertEqual(found["info", "GET", "502"], 1)
        self.assertEqual({labels[:2] for labels in found} - {("version", "GET"), ("info", "GET")}, {("none", "none")})

    def test_seconds(self) -> None:
        """A request's time is that from its last byte to the end of its answer."""
        waiting: Deferred[Any] = Deferred()
        api = Rapi(luxi=FakeLuxi({"QueryClusterInfo": lambda: waiting}))
        connection = api.connect()
        connection.send(b"GET /2/info HTTP/1.1\r\nHost: a\r\n\r\n")
        api.clock.advance(3)
        waiting.callback({})
        (spread,) = api.measures.readings().spreads[rapi.SECONDS.name]
        self.assertEqual((spread.labels, spread.sum), (("info", "GET"), 3.0))

    def test_gone(self) -> None:
        """A client that did not wait for its answer is counted as gone."""
        api = Rapi(luxi=FakeLuxi({"QueryClusterInfo": lambda: Deferred()}))
        connection = api.connect()
        connection.send(b"GET /2/info HTTP/1.1\r\nHost: a\r\n\r\n")
        connection.lose()
        self.assertEqual(self.counted(api), {("info", "GET", "499"): 1})

    def test_streams(self) -> None:
        """An answer without end is counted while it is sent."""
        first: Deferred[bytes] = Deferred()

        async def chunks() -> AsyncIterator[bytes]:
            yield await first

        async def run(call: Call) -> Stream:
            return Stream("text/event-stream", chunks())

        api = Rapi(operations=[Operation("GET", "/stream", "stream", frozenset(), run, "", {})])

        def open_streams() -> float:
            return api.measures.readings().values[rapi.STREAMS.name][0].value

        connection = api.connect()
        self.assertEqual(open_streams(), 0)
        connection.channel.dataReceived(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertEqual(open_streams(), 1)
        first.callback(b"data\n\n")
        self.assertEqual(open_streams(), 0)
