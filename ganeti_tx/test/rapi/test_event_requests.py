"""Streams of events over HTTP: the real parser and routes, luxid's real event log, no sockets."""

from ganeti_tx.rapi.channel import READ_LIMIT
from ganeti_tx.rapi.events.event_stream import HEARTBEAT
from ganeti_tx.sse import SseParser
from ganeti_tx.test.rapi.event_case import EventStreamCase, instance
from ganeti_tx.test.rapi.requests import Connection, Rapi, unchunked

GET = "GET /2/events{} HTTP/1.1\r\nHost: c\r\n{}\r\n"


class EventRequestTests(EventStreamCase):
    """GET /2/events."""

    def setUp(self) -> None:
        super().setUp()
        self.connected: list[Connection] = []
        self.rapi = Rapi(clock=self.clock, events=self.feed)

    def get(self, query: str = "", headers: str = "") -> tuple[Connection, str, SseParser]:
        """A connection with a stream, the head of the answer in lower case, and a parser that has read what there is."""
        connection = self.rapi.connect()
        self.connected.append(connection)
        self.addCleanup(self.lose, connection)
        head, _, body = connection.exchange(GET.format(query, headers).encode()).partition(b"\r\n\r\n")
        parser = SseParser()
        parser.feed(unchunked(body)[0])
        return connection, head.decode().lower(), parser

    def lose(self, connection: Connection) -> None:
        """The client hangs up, if it has not yet."""
        if connection in self.connected:
            self.connected.remove(connection)
            connection.lose()

    def ids(self, connection: Connection, parser: SseParser) -> list[str]:
        """The ids of the events that came since the last look."""
        return [event.id for event in parser.feed(unchunked(connection.exchange(b""))[0])]

    def test_stream(self) -> None:
        """The head says what it is and that nobody shall keep it; events are sent as they happen, uncompressed."""
        connection, head, parser = self.get("", "Accept-Encoding: gzip\r\n")
        self.assertTrue(head.startswith("http/1.1 200 ok\r\n"), head)
        for line in ("content-type: text/event-stream", "cache-control: no-store", "transfer-encoding: chunked"):
            self.assertIn(line, head)
        for line in ("content-encoding", "etag", "content-length"):
            self.assertNotIn(line, head)
        self.assertEqual(parser.last_id, "e1-0")
        self.happen(instance("a"))
        self.assertEqual(self.ids(connection, parser), ["e1-1"])

    def test_resume(self) -> None:
        """By header or argument."""
        self.happen(instance("a"), instance("b"), instance("c"))
        for query, header in (("", "Last-Event-ID: e1-1\r\n"), ("?after=e1-1", ""), ("?after=e1-0&kind=instance", "")):
            _, _, parser = self.get(query, header)
            self.assertEqual(parser.last_id, "e1-3")

    def test_head(self) -> None:
        """HEAD gets the head, and no stream is begun."""
        connection = self.rapi.connect()
        head = connection.exchange(GET.format("", "").replace("GET", "HEAD", 1).encode())
        self.assertIn(b"text/event-stream", head)
        self.assertTrue(head.endswith(b"\r\n\r\n"))
        self.assertTrue(self.feed.has_room("tester"))
        self.assertEqual(self.luxid.clients[0].asked, 0)

    def test_refused(self) -> None:
        """What cannot be streamed is an ordinary error."""
        answer = self.rapi.get("/2/events?kind=colour")
        self.assertEqual(answer.status, 400)
        self.assertIn("colour", answer.json["message"])
        self.feed.most = 0
        answer = self.rapi.get("/2/events")
        self.assertEqual((answer.status, answer.headers["retry-after"]), (503, "10"))

    def test_client_leaves(self) -> None:
        """When the client hangs up nothing is left of the stream."""
        connection, _, _ = self.get()
        self.lose(connection)
        self.happen(instance("a"))
        self.assertEqual(self.luxid.clients[0].waiting, [])
        self.assertFalse(self.feed._streams)

    def test_no_reader(self) -> None:
        """A client that reads nothing is dropped after some time, and nothing was queued for it."""
        connection, _, _ = self.get()
        self.happen(instance("a"))
        connection.channel.pauseProducing()
        self.happen(*[instance("b")] * 50)
        self.happen(*[instance("b")] * 50)
        self.assertLess(len(connection.transport.value()), 20_000)
        self.clock.pump([1.0] * int(READ_LIMIT + HEARTBEAT))
        self.assertTrue(connection.transport.disconnected or connection.transport.disconnecting)
