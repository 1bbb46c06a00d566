"""The URLs, against the reference; and clients that are up to no good."""

import json
from typing import Any

from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import BlockDeviceError
from ganeti_tx.metrics.page import Page
from ganeti_tx.mond.http import IDLE_LIMIT, MonitoringSite
from ganeti_tx.mond.interfaces import Category, Kind
from ganeti_tx.mond.schedule import Schedule
from ganeti_tx.runtime.limited_channel import HEAD_LIMIT, MAX_UNAUTHENTICATED
from ganeti_tx.test.mond.parts import CONTRACT, Scripted

METRICS = Page(b"metric 1\n", "text/plain; version=1")


class Client:
    """One connection with what the daemon wrote."""

    def __init__(self, site: MonitoringSite, clock: Clock) -> None:
        self.clock = clock
        self.channel: Any = site.buildProtocol(None)
        self.transport = StringTransport()
        self.transport.abortConnection = self.transport.loseConnection  # type: ignore[method-assign]
        self.channel.makeConnection(self.transport)

    def send(self, data: bytes) -> None:
        """Bytes arrive, and every request among them gets its turn."""
        self.channel.dataReceived(data)
        for _ in range(data.count(b"\r\n\r\n")):
            self.clock.advance(0)

    def get(self, path: str, method: str = "GET", version: str = "1.1") -> None:
        """A request."""
        self.send(f"{method} {path} HTTP/{version}\r\nHost: node1\r\n\r\n".encode())

    def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers, and the body with its chunks put together."""
        head, _, body = self.transport.value().partition(b"\r\n\r\n")
        self.transport.clear()
        status, *lines = head.decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        if headers.get("transfer-encoding") == "chunked":
            body = b"".join(body.split(b"\r\n")[1::2])
        return int(status.split()[1]), headers, body

    @property
    def gone(self) -> bool:
        """Whether the daemon hung up."""
        return self.transport.disconnecting


class HttpCase(SynchronousTestCase):
    """Two collectors, one without a category."""

    def setUp(self) -> None:
        self.clock = Clock()
        self.load = Scripted("cpu-avg-load")
        self.drbd = Scripted("drbd", Category.STORAGE, Kind.STATUS)
        self.schedule = Schedule([self.load, self.drbd], self.clock, lambda: 1_500_000_000_123_456_789)
        self.schedule.apply({}, ())
        self.site = MonitoringSite(self.schedule, lambda accept: METRICS, self.clock)
        self.client = Client(self.site, self.clock)

    def look(self, load: Any = 1, drbd: Any = 2) -> None:
        """The first looks end."""
        self.load.looks[-1].callback(load)
        if isinstance(drbd, Exception):
            self.drbd.looks[-1].errback(drbd)
        else:
            self.drbd.looks[-1].callback(drbd)

    def get(self, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
        """The answer to one request."""
        self.client.get(path, method)
        return self.client.answer()

    def json(self, path: str) -> Any:
        """The body of an answer that must be good."""
        status, _, body = self.get(path)
        self.assertEqual(status, 200, body)
        return json.loads(body)


class UrlTests(HttpCase):
    """What is found where."""

    def test_versions(self) -> None:
        """The root lists the versions; below the version itself there is null."""
        self.assertEqual(self.json("/"), CONTRACT["api_versions"])
        self.assertIsNone(self.json("/1/"))

    def test_list(self) -> None:
        """The list has name, category and kind; what has no category is under "default". No look is needed for it."""
        self.assertEqual(self.json("/1/list/collectors"), [["cpu-avg-load", "default", 0], ["drbd", "storage", 1]])

    def test_report(self) -> None:
        """A report has the reference's keys; the time is exact to the nanosecond."""
        self.look(drbd={"deviceInfos": []})
        found = self.json("/1/report/storage/drbd")
        self.assertEqual(
            found,
            {
                "name": "drbd", "version": CONTRACT["builtin_version"], "format_version": 1, "category": "storage",
                "timestamp": 1_500_000_000_123_456_789, "kind": 1, "data": {"deviceInfos": []},
            },
        )  # fmt: skip
        self.assertEqual(set(found), set(CONTRACT["report"]))
        self.assertIsNone(self.json("/1/report/default/cpu-avg-load")["category"])

    def test_all(self) -> None:
        """All reports of active collectors, and of no others."""
        self.look()
        self.assertEqual([each["data"] for each in self.json("/1/report/all")], [1, 2])
        self.schedule.apply({}, ())
        self.schedule.stop()
        self.assertEqual((self.json("/1/report/all"), self.json("/1/list/collectors")), ([], []))

    def test_headers(self) -> None:
        """A good answer comes in chunks and has no content type, as from Ganeti's daemon."""
        _, headers, _ = self.get("/")
        self.assertEqual((headers["transfer-encoding"], headers.get("content-type")), ("chunked", None))

    def test_others(self) -> None:
        """Everything else is not found, in a line without a content type."""
        for path in (
            "/1", "/2/", "/x", "//", "/1/list", "/1/list/collectors/", "/1/report", "/1/report/", "/1/report/all/",
            "/1/report/default/drbd", "/1/report/storage/nosuch", "/1/report/storage/drbd/x", "/../etc/passwd",
            "/%31/", "/1/report/storage/%64rbd", "http://node1/x",
        ):  # fmt: skip
            status, headers, body = self.get(path)
            self.assertEqual((status, headers.get("content-type"), body.count(b"\n")), (404, None, 1), path)

    def test_failure(self) -> None:
        """When a collector fails its report is 500 with a text, and so is that of all; others are not touched."""
        self.look(drbd=BlockDeviceError("the module is broken"))
        for path in ("/1/report/storage/drbd", "/1/report/all"):
            status, _, body = self.get(path)
            self.assertEqual((status, body), (500, b"collector drbd: the module is broken\n"))
        self.assertEqual(self.json("/1/report/default/cpu-avg-load")["data"], 1)

    def test_first_look(self) -> None:
        """Who comes before the first look has ended gets its report, then."""
        self.client.get("/1/report/all")
        self.assertEqual(self.client.transport.value(), b"")
        self.look()
        self.assertEqual(self.client.answer()[0], 200)

    def test_metrics(self) -> None:
        """The metrics have their own content type."""
        status, headers, body = self.get("/metrics")
        self.assertEqual((status, headers["content-type"], body), (200, METRICS.content_type, METRICS.body))

    def test_methods(self) -> None:
        """Only GET; HEAD is the same without a body."""
        status, _, body = self.get("/", "HEAD")
        self.assertEqual((status, body), (200, b""))
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "BREW"):
            status, headers, _ = self.get("/", method)
            self.assertEqual((status, headers["allow"]), (405, "get, head"))

    def test_query(self) -> None:
        """A query changes nothing."""
        self.assertEqual(self.json("/?a=1&b=2"), [1])

    def test_whole_address(self) -> None:
        """A request may name the server, too."""
        self.assertEqual(self.json("http://node1:1815/"), [1])
        self.assertEqual(self.json("HTTP://node1"), [1])
        self.assertIsNone(self.json("http://node1/1/"))
        self.assertEqual(self.get("/http://node1/1/")[0], 404)

    def test_http_1_0(self) -> None:
        """An old client gets the body as it is, and the end of the connection."""
        self.client.get("/", version="1.0")
        status, headers, body = self.client.answer()
        self.assertEqual((status, headers.get("transfer-encoding"), body), (200, None, b"[1]"))
        self.assertTrue(self.client.gone)


class HostileTests(HttpCase):
    """What clients may not do."""

    def test_body(self) -> None:
        """A request with a body is refused before the body is there, with or without a length."""
        for head in (b"Content-Length: 99999999999", b"Content-Length: 1", b"Transfer-Encoding: chunked"):
            client = Client(self.site, self.clock)
            client.send(b"GET / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
            self.assertEqual((client.answer()[0], client.gone), (413, True))
            client.send(b"5\r\nabcde\r\n")
            self.assertEqual(client.transport.value(), b"")

    def test_drips(self) -> None:
        """Bytes that drip in do not keep a connection for longer than a request may take."""
        self.client.send(b"GET / HTTP/1.1\r\n")
        for _ in range(int(HEAD_LIMIT)):
            self.assertFalse(self.client.gone)
            self.client.send(b"X: y\r\n")
            self.clock.advance(1)
        self.assertTrue(self.client.gone)

    def test_idle(self) -> None:
        """A connection that is not used is closed, also after a request; one that was never used soon."""
        other = Client(self.site, self.clock)
        self.client.get("/")
        self.clock.advance(HEAD_LIMIT)
        self.assertEqual((self.client.gone, other.gone), (False, True))
        self.clock.advance(IDLE_LIMIT - HEAD_LIMIT)
        self.assertTrue(self.client.gone)

    def test_crowd(self) -> None:
        """One connection too many sends the oldest away."""
        clients = [Client(self.site, self.clock) for _ in range(MAX_UNAUTHENTICATED)]
        self.assertEqual([each.gone for each in (self.client, clients[0])], [True, False])
        clients[-1].get("/")
        self.assertEqual(clients[-1].answer()[0], 200)

    def test_no_http(self) -> None:
        """What is no HTTP, or too much of it, ends the connection."""
        for data in (
            b"hello\r\n\r\n",
            b"GET /" + b"x" * 20000,
            b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 2000,
            b"\0" * 20000,
        ):
            client = Client(self.site, self.clock)
            client.send(data)
            self.assertTrue(client.gone, data[:20])

    def test_hangs_up(self) -> None:
        """A client that hangs up while it waits for a report breaks nothing."""
        self.client.get("/1/report/all")
        self.client.channel.connectionLost(Failure(ConnectionDone()))
        self.look()
        other = Client(self.site, self.clock)
        other.get("/1/report/all")
        self.assertEqual(other.answer()[0], 200)

    def test_does_not_read(self) -> None:
        """Who does not read what he asked for gets no more, whatever more he asks for, and is sent away in the end."""
        self.look()
        self.client.channel.pauseProducing()  # as the transport does when there is more than it likes
        self.client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        self.assertEqual((self.client.transport.value(), self.client.transport.producerState), (b"", "paused"))
        self.client.channel.resumeProducing()
        self.clock.pump([0, 0])
        self.assertEqual(self.client.transport.value().count(b"200 OK"), 3)
        self.client.channel.pauseProducing()
        self.client.get("/")
        self.clock.advance(IDLE_LIMIT)
        self.assertEqual((self.client.transport.value().count(b"200 OK"), self.client.gone), (3, True))

    def test_pipelined(self) -> None:
        """Requests that come together are answered one after the other."""
        self.look()
        self.client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        self.assertEqual(self.client.transport.value().count(b"200 OK"), 3)
