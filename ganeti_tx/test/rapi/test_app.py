"""Operations as routes: what is found, read and answered."""

from typing import Any

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import (
    ECode,
    GenericError,
    JobQueueDrainError,
    JobQueueFull,
    OpPrereqError,
)
from ganeti_tx.luxi import transport_errors
from ganeti_tx.rapi.errors import INTERNAL
from ganeti_tx.rapi.http.answers import Document
from ganeti_tx.rapi.operations.operation import Call, Operation
from ganeti_tx.test.rapi.requests import FakeLuxi, Rapi, parse


async def echo(call: Call) -> object:
    """What was understood of a request."""
    return {"parts": dict(call.parts), "arguments": dict(call.arguments), "body": call.body, "who": call.caller.name}


async def info(call: Call) -> object:
    """What LUXI says."""
    return await call.luxi.query_cluster_info()


async def text(call: Call) -> Document:
    """No JSON."""
    return Document("text/plain; version=1.0.0", b"up 1\n")


def operation(method: str, path: str, run: Any = echo, **more: Any) -> Operation:
    """One that answers with what it was given."""
    return Operation(method, path, "echo", frozenset(), run, "Echo", {}, **more)  # type: ignore[arg-type]


ECHOES = (
    operation("GET", "/"),
    operation("GET", "/2/info", info),
    operation("GET", "/2/text", text),
    operation("GET", "/2/instances"),
    operation("GET", "/2/instances/{instance_name}"),
    operation("PUT", "/2/instances/{instance_name}"),
    operation("GET", "/2/instances/{instance_name}/info", submits=("OP_INSTANCE_QUERY_DATA",)),
    operation("POST", "/2/instances", body_required=True),
    operation("GET", "/2/jobs/{job_id}"),
)
PUT = "/2/instances/web1"


class RouteTests(SynchronousTestCase):
    """From bytes to an operation and back."""

    def setUp(self) -> None:
        self.rapi = Rapi(operations=ECHOES)

    def test_real_table(self) -> None:
        """The version of the Remote API is 2; answers have the stock headers."""
        answer = Rapi().get("/version")
        self.assertEqual((answer.status, answer.body), (200, b"2\n"))
        self.assertEqual(
            (answer.headers["content-type"], answer.headers["server"]), ("application/json", "Ganeti 3.0.2")
        )

    def test_parts_and_arguments(self) -> None:
        """Names in the path, all values of all arguments and the body reach the operation."""
        answer = self.rapi.request("PUT", "/2/instances/web1.example?tag=a%3Bx&tag=b&force=&bulk", {"x": [1]})
        self.assertEqual(
            answer.json,
            {
                "parts": {"instance_name": "web1.example"},
                "arguments": {"tag": ["a;x", "b"], "force": [""], "bulk": [""]},
                "body": {"x": [1]},
                "who": "tester",
            },
        )

    def test_json_form(self) -> None:
        """JSON is ASCII in one line with a space after each comma and colon, and a newline."""
        answer = self.rapi.request("PUT", PUT, {"ü": [1, None]})
        self.assertEqual(
            answer.body,
            b'{"parts": {"instance_name": "web1"}, "arguments": {}, "body": {"\\u00fc": [1, null]}, "who": "tester"}\n',
        )

    def test_unknown(self) -> None:
        """What is not there gives 404 with the stock body; so does a slash at the end, and what is no number."""
        paths = ("/3", "/2/instances/", "//2/instances", "//", "/2//instances", "/2/jobs/abc", "/2/instances/a%2fb",
                 "/2/instances/a/b", "/2/instances/..%2f", "/2/../2/instances", "/2/instances/%00", "/%32/instances",
                 "*", "2/instances", "/" + "a/" * 4000)  # fmt: skip
        for path in paths:
            [answer] = self.rapi.connect().send(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            self.assertEqual((path[:40], answer.status), (path[:40], 404))
            self.assertEqual(
                answer.body, b'{"code": 404, "message": "Not Found", "explain": "Nothing matches the given URI"}\n'
            )

    def test_dots_are_a_name(self) -> None:
        """Two dots are a name like others: there are no directories."""
        self.assertEqual(self.rapi.get("/2/instances/..").json["parts"], {"instance_name": ".."})

    def test_absolute_form(self) -> None:
        """A whole URI in the request line is understood, as RFC 9112 demands."""
        self.assertEqual(self.rapi.get("https://cluster.example:5080/2/instances?bulk=1").status, 200)
        self.assertEqual(self.rapi.get("https://cluster.example").status, 200)

    def test_lacking_method(self) -> None:
        """A method that a resource lacks is not implemented, and that is not 405."""
        for method in ("POST", "PATCH", "OPTIONS", "TRACE", "FOO"):
            self.assertEqual((method, self.rapi.request(method, "/2/instances/web1").status), (method, 501))

    def test_head(self) -> None:
        """HEAD gives the head of GET; a GET that starts a job has none."""
        head, get = self.rapi.request("HEAD", "/2/instances"), self.rapi.get("/2/instances")
        self.assertEqual((head.status, head.headers["length"]), (200, str(len(get.body))))
        self.assertEqual(head.headers["etag"], get.headers["etag"])
        self.assertEqual(self.rapi.request("HEAD", "/2/instances/web1/info").status, 501)

    def test_document(self) -> None:
        """What is no JSON is sent as it is, whatever the client said about JSON."""
        answer = self.rapi.get("/2/text", {"Accept": "text/plain"})
        self.assertEqual((answer.status, answer.body), (200, b"up 1\n"))
        self.assertEqual(answer.headers["content-type"], "text/plain; version=1.0.0")
        self.assertEqual(self.rapi.get("/2/text", {"If-None-Match": answer.headers["etag"]}).status, 304)

    def test_accept(self) -> None:
        """Answers are JSON whatever a client says that it takes, as Ganeti's are: many say so without need."""
        for accept in ("text/html", "*/*", "text/plain, application/xml;q=0.1", "application/json;q=0, */*"):
            for method in ("GET", "PUT"):
                answer = self.rapi.request(method, PUT, headers={"Accept": accept})
                self.assertEqual((accept, answer.status), (accept, 200))
                self.assertEqual(answer.headers["content-type"], "application/json")

    def test_fault_of_ours(self) -> None:
        """Of a fault of this program clients learn nothing; the log does."""
        answer = Rapi(operations=ECHOES, luxi=FakeLuxi({"QueryClusterInfo": KeyError("secret")})).get("/2/info")
        self.assertEqual((answer.status, answer.json["message"]), (500, INTERNAL))
        self.assertEqual(len(self.flushLoggedErrors(KeyError)), 1)


class BodyTests(SynchronousTestCase):
    """What may come in a body."""

    def setUp(self) -> None:
        self.rapi = Rapi(operations=ECHOES)

    def status(self, body: bytes, content_type: str = "application/json") -> int:
        """What a body gives."""
        return self.rapi.request("PUT", PUT, body, {"Content-Type": content_type, "Authorization": "x"}).status

    def test_content_type(self) -> None:
        """Only JSON is taken, whatever its parameters and letters; nothing is of no type."""
        self.assertEqual(self.status(b"{}", "application/json; charset=utf-8"), 200)
        self.assertEqual(self.status(b"{}", "Application/JSON"), 200)
        self.assertEqual(self.status(b"{}", "text/plain"), 415)
        self.assertEqual(self.status(b"a=1", "application/x-www-form-urlencoded"), 415)
        self.assertEqual(self.status(b"", "application/x-www-form-urlencoded"), 200)

    def test_not_json(self) -> None:
        """What is no JSON, or holds too much, is a bad request."""
        for body in (b"{", b"{} {}", b"\xff", b'"\xff"', b"nul", b"1e999", b"9" * 5000, b"18446744073709551616",
                     b"[" * 10000, b"[" * 101 + b"]" * 101, b'["\\u0000"]', b"[" + b"1," * 300_000 + b"1]"):  # fmt: skip
            self.assertEqual((body[:10], self.status(body)), (body[:10], 400))

    def test_required(self) -> None:
        """Where a body is needed, its lack is a bad request."""
        self.assertEqual(self.rapi.request("POST", "/2/instances").status, 400)
        self.assertEqual(self.rapi.request("POST", "/2/instances", {}).status, 200)

    def test_get_of_the_stock_client(self) -> None:
        """A GET may have a Content-Type and no body."""
        answer = self.rapi.get("/2/instances", {"Content-Type": "application/json", "Content-Length": "0"})
        self.assertEqual(answer.status, 200)

    def test_arguments_not_utf8(self) -> None:
        """Query arguments must be text; no path has anything else."""
        self.assertEqual(self.rapi.get("/2/instances?tag=%ff").status, 400)
        self.assertEqual(self.rapi.get("/2/instances?tag=a%00").status, 400)
        self.assertEqual(self.rapi.get("/2/instances/a%00").status, 404)


class ErrorTests(SynchronousTestCase):
    """What the master's errors become."""

    def answer(self, error: Exception) -> Any:
        """To a GET for which LUXI raises an error."""
        return Rapi(operations=ECHOES, luxi=FakeLuxi({"QueryClusterInfo": error})).get("/2/info")

    def test_statuses(self) -> None:
        """Each error has its status."""
        for error, status in (
            (transport_errors.NoMasterError("down"), 502),
            (transport_errors.ProtocolError("what?"), 502),
            (transport_errors.TimeoutError("late"), 504),
            (transport_errors.PermissionError("no"), 500),
            (JobQueueDrainError("drained"), 503),
            (JobQueueFull(), 503),
            (GenericError("odd"), 500),
        ):
            self.assertEqual((str(error), self.answer(error).status), (str(error), status))

    def test_message(self) -> None:
        """The message is escaped as HTML; several arguments are told as a tuple, as programs expect it."""
        answer = self.answer(OpPrereqError("no <b> & 'c'", ECode.STATE))
        self.assertEqual(answer.status, 500)
        self.assertEqual(
            answer.json["message"], "(&quot;no &lt;b&gt; &amp; &#x27;c&#x27;&quot;, &#x27;wrong_state&#x27;)"
        )
        self.assertEqual(answer.json["explain"], "Server got itself in trouble")

    def test_fault_of_the_caller(self) -> None:
        """What the master daemon refuses because of what was asked is no fault of the server."""
        for code, status in ((ECode.NOENT, 404), (ECode.INVAL, 400)):
            answer = self.answer(OpPrereqError("no such field", code))
            self.assertEqual((answer.status, answer.json["message"]), (status, "no such field"))


class ConnectionTests(SynchronousTestCase):
    """HTTP itself."""

    def setUp(self) -> None:
        self.rapi = Rapi(operations=ECHOES)

    def test_keep_alive(self) -> None:
        """A connection serves many requests, also when they come all at once, until somebody says close."""
        connection = self.rapi.connect()
        request = b"GET /2/instances HTTP/1.1\r\nHost: x\r\n\r\n"
        self.assertEqual([each.status for each in connection.send(request * 3)], [200] * 3)
        [answer] = connection.send(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        self.assertEqual((answer.headers["connection"], connection.gone), ("close", True))

    def test_host(self) -> None:
        """HTTP/1.1 needs one Host header; HTTP/1.0 none."""
        for head, status in ((b"1.1\r\n", 400), (b"1.1\r\nHost: a\r\nHost: b\r\n", 400), (b"1.0\r\n", 200)):
            [answer] = self.rapi.connect().send(b"GET / HTTP/" + head + b"\r\n")
            self.assertEqual((head, answer.status), (head, status))

    def test_one_authorization(self) -> None:
        """Who says twice who he is, is refused: what stands before the daemon may have looked at the other one."""
        head = b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YTpi\r\n"
        for more, status in ((b"", 200), (b"Authorization: Basic YzpkCg==\r\n", 400)):
            [answer] = self.rapi.connect().send(head + more + b"\r\n")
            self.assertEqual((more, answer.status), (more, status))

    def test_other_sites(self) -> None:
        """A page of another site cannot let a browser change things with the password that the browser keeps."""
        for method, path in (("PUT", PUT), ("GET", f"{PUT}/info")):
            for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
                answer = self.rapi.request(method, path, headers={"Sec-Fetch-Site": site})
                self.assertEqual((site, answer.status), (site, status))
        self.assertEqual(self.rapi.get("/2/instances", {"Sec-Fetch-Site": "cross-site"}).status, 200)

    def test_odd_hosts(self) -> None:
        """Whatever a client calls this host, it is answered."""
        for host in (b"a..b", b"\xff", b"x" * 300, b"", b"[::1]:5080", b"xn--\x80", b"a/b"):
            [answer] = self.rapi.connect().send(b"GET /2/instances HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
            self.assertEqual((host, answer.status), (host, 200))

    def test_odd_headers(self) -> None:
        """Headers may hold any bytes; none of them is more than a header that says nothing."""
        for name in (b"If-None-Match", b"If-Match", b"Accept-Encoding", b"Authorization", b"Content-Type", b"Cookie"):
            [answer] = self.rapi.connect().send(
                b"GET /2/instances HTTP/1.1\r\nHost: x\r\n" + name + b': \xff\xc3("\x01;=,q\r\n\r\n'
            )
            self.assertEqual((name, answer.status), (name, 200))
        self.assertEqual(self.rapi.get("/2/instances", {"Accept": "\xff\x01;q=nan"}).status, 200)

    def test_http_10(self) -> None:
        """A client of HTTP/1.0 is answered in kind, and the connection is closed."""
        connection = self.rapi.connect()
        written = connection.exchange(b"GET /2/instances HTTP/1.0\r\n\r\n")
        self.assertTrue(written.startswith(b"HTTP/1.0 200 OK\r\n"))
        self.assertNotIn(b"chunked", written)
        self.assertTrue(connection.gone)

    def test_client_gone(self) -> None:
        """Who hangs up is not answered, and what was asked for him is broken off."""
        asked: Deferred[Any] = Deferred()
        rapi = Rapi(operations=ECHOES, luxi=FakeLuxi({"QueryClusterInfo": lambda: asked}))
        connection = rapi.connect()
        connection.send(b"GET /2/info HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.lose()
        self.assertTrue(asked.called)
        self.assertEqual(parse(connection.transport.value()), [])
        self.assertEqual(self.flushLoggedErrors(), [])
