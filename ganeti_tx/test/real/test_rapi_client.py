"""Each client of the Remote API against a server over TLS that answers as a test tells it."""

import asyncio
import hashlib
import tempfile
import threading
from contextlib import aclosing
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from ganeti_tx.rapi_client import (
    AnswerError,
    CertificateError,
    Client,
    Login,
    NoAnswerError,
    RapiError,
    Server,
    Token,
    authority_file,
    on_asyncio,
    pin,
)
from ganeti_tx.rapi_client.trust import SYSTEM, Trust
from ganeti_tx.sse import event_bytes, retry_bytes
from ganeti_tx.test.real import client_styles
from ganeti_tx.test.real.client_styles import Use
from ganeti_tx.test.real.scripted_server import LIMIT, ScriptedServer, ok


class ClientContract:
    """What holds for every kind of client."""

    style: Any
    script: Any
    addCleanup: Any
    assertEqual: Any
    assertIn: Any
    assertNotIn: Any
    fail: Any

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.script = lambda head, body: ok("2")
        self.server = ScriptedServer(Path(directory.name), lambda head, body: self.script(head, body))
        self.addCleanup(directory.cleanup)
        self.addCleanup(deferToThread, self.server.close)

    def at(self, trust: Trust | None = None, host: str = "127.0.0.1", **settings: Any) -> Server:
        """The server, trusted by its authority when nothing else is said."""
        trust = trust or authority_file(self.server.authority)
        return Server(host, self.server.port, trust=trust, **{"retries": 0, **settings})

    def run_on(self, server: Server, use: Use) -> Deferred[Any]:
        """Use a client."""
        done: Deferred[Any] = self.style(server, use)
        return done

    async def fails(self, kind: type[Exception], server: Server) -> Exception:
        """The error that get_version fails with."""
        try:
            await self.run_on(server, lambda client: client.get_version())
        except kind as error:
            return error
        self.fail(f"{kind.__name__} was not raised")
        raise AssertionError

    async def test_answer(self) -> None:
        """A call returns the typed answer."""
        self.assertEqual(await self.run_on(self.at(), lambda client: client.get_version()), 2)

    async def test_connection_is_kept(self) -> None:
        """Calls one after the other share a connection."""

        async def use(client: Any) -> list[int]:
            return [await client.get_version() for _ in range(3)]

        self.assertEqual(await self.run_on(self.at(), use), [2, 2, 2])
        self.assertEqual(self.server.connections, 1)

    async def test_connection_closed_between_calls(self) -> None:
        """A connection that the server closes is not used again, also not for what may be sent only once."""
        self.script = lambda head, body: (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n7", True)

        async def use(client: Any) -> list[int]:
            return [await client.redistribute_config() for _ in range(2)]

        self.assertEqual(await self.run_on(self.at(), use), [7, 7])
        self.assertEqual(self.server.connections, 2)

    async def test_chunks(self) -> None:
        """An answer in chunks is put together."""
        chunked = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n["a\r\n2;x=y\r\n"]\r\n0\r\n\r\n'
        self.script = lambda head, body: (chunked, False)
        self.assertEqual(await self.run_on(self.at(), lambda client: client.get_features()), ["a"])

    async def test_own_certificate_is_authority(self) -> None:
        """The server's own certificate, copied from its rapi.pem, is enough to trust it."""
        server = self.at(authority_file(self.server.bundle))
        self.assertEqual(await self.run_on(server, lambda client: client.get_version()), 2)

    async def test_pin(self) -> None:
        """The right fingerprint is enough, whatever the name, which the server is told all the same."""
        right = pin(hashlib.sha256(self.server.der).hexdigest().upper())
        server = self.at(right, name="elsewhere.example.com")
        self.assertEqual(await self.run_on(server, lambda client: client.get_version()), 2)
        self.assertEqual(self.server.names, ["elsewhere.example.com"])

    async def test_wrong_pin(self) -> None:
        """Nothing is sent to a server with another fingerprint."""
        await self.fails(CertificateError, self.at(pin("ab" * 32), credentials=Token("secret")))
        self.assertEqual(self.server.heads, [])

    async def test_unknown_authority(self) -> None:
        """Nothing is sent to a server whose certificate nobody known has signed; the text says what to do."""
        error = await self.fails(CertificateError, self.at(SYSTEM, credentials=Token("secret")))
        self.assertIn("rapi.pem", str(error))
        self.assertEqual(self.server.heads, [])

    async def test_wrong_name(self) -> None:
        """Nothing is sent to a server whose certificate is for another name."""
        await self.fails(CertificateError, self.at(name="elsewhere.example.com"))
        self.assertEqual(self.server.heads, [])

    async def test_credentials(self) -> None:
        """User and password, or a token, are in the header for them."""
        await self.run_on(self.at(credentials=Login("joe", "päss")), lambda client: client.get_version())
        await self.run_on(self.at(credentials=Token("t0k")), lambda client: client.get_version())
        self.assertIn("Authorization: Basic am9lOnDDpHNz", self.server.heads[0])
        self.assertIn("Authorization: Bearer t0k", self.server.heads[1])

    async def test_error(self) -> None:
        """An error body becomes a RapiError; its HTML is taken off."""
        body = '{"code": 403, "message": "not &#x27;you&#x27;", "explain": "Forbidden"}'
        self.script = lambda head, _: (ok(body)[0].replace(b"200 OK", b"403 Forbidden"), False)
        error = await self.fails(RapiError, self.at())
        assert isinstance(error, RapiError)
        self.assertEqual((error.status, error.code, error.message), (403, 403, "not 'you'"))
        self.assertEqual(error.explain, "Forbidden")

    async def test_other_answer(self) -> None:
        """An answer of another type is an error of its own."""
        self.script = lambda head, body: ok('"two"')
        self.assertIn("two", str(await self.fails(AnswerError, self.at())))

    async def test_no_http(self) -> None:
        """A server that speaks something else is an error, not a wait."""
        self.script = lambda head, body: (b"220 mail.example.com ESMTP\r\n\r\n", False)
        self.assertIn("220 mail", str(await self.fails(AnswerError, self.at())))

    async def test_too_long(self) -> None:
        """An answer longer than the limit is not gathered."""
        self.script = lambda head, body: ok("2" * 1001)
        await self.fails(AnswerError, self.at(largest_answer=1000))

    async def test_cut_off(self) -> None:
        """An answer that is cut off is none."""
        self.script = lambda head, body: (ok("12345")[0][:-1], True)
        await self.fails(NoAnswerError, self.at())

    async def test_silence(self) -> None:
        """A server that says nothing is left after the time limit."""
        self.script = lambda head, body: (b"HTTP/1.1 200 ", False)
        self.assertIn("0.3 seconds", str(await self.fails(NoAnswerError, self.at(answer_timeout=0.3))))

    async def test_nobody_there(self) -> None:
        """The address is named where nobody listens."""
        self.server.close()
        self.assertIn(f"127.0.0.1:{self.server.port}", str(await self.fails(NoAnswerError, self.at())))

    async def test_safe_request_is_repeated(self) -> None:
        """What changes nothing is sent again when no answer came."""
        answers = [(b"", True), ok("2")]
        self.script = lambda head, body: answers.pop(0)
        self.assertEqual(await self.run_on(self.at(retries=1), lambda client: client.get_version()), 2)

    async def test_other_request_is_not_repeated(self) -> None:
        """What submits a job is sent once, also when it is a GET."""
        for call in ("redistribute_config", "get_instance_info"):
            self.script = lambda head, body: (b"", True)
            args = [] if call == "redistribute_config" else ["web1"]
            before = len(self.server.heads)
            try:
                await self.run_on(self.at(retries=2), lambda client: getattr(client, call)(*args))  # noqa: B023
            except NoAnswerError:
                self.assertEqual(len(self.server.heads) - before, 1)
            else:
                self.fail("no error")

    async def test_unchanged(self) -> None:
        """What the server says is still true is not sent again."""
        answers = [ok("2", 'ETag: "a"'), (b"HTTP/1.1 304 Not Modified\r\n\r\n", False)]
        self.script = lambda head, body: answers.pop(0)

        async def use(client: Any) -> list[int]:
            return [await client.get_version() for _ in range(2)]

        self.assertEqual(await self.run_on(self.at(), use), [2, 2])
        self.assertNotIn("If-None-Match", self.server.heads[0])
        self.assertIn('If-None-Match: "a"', self.server.heads[1])

    async def test_events_over_two_connections(self) -> None:
        """Who follows events goes on from the last one when the connection is lost."""
        gap = b'{"kind": "gap", "time": 1.0, "reason": "restart", "resync": []}'
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + retry_bytes(1)
        streams = [head + event_bytes(each, "gap", gap) for each in ("e-1", "e-2")]
        self.script = lambda head, body: (streams.pop(0), True)

        async def use(client: Any) -> list[str]:
            found: list[str] = []
            async with aclosing(client.events("e-0")) as events:
                async for happened in events:
                    found.append(happened.id)
                    if len(found) == 2:
                        break
            return found

        self.assertEqual(await self.run_on(self.at(), use), ["e-1", "e-2"])
        asked = [line for head in self.server.heads for line in head.split("\r\n") if line.startswith("Last-Event-ID")]
        self.assertEqual(asked, ["Last-Event-ID: e-0", "Last-Event-ID: e-1"])

    async def test_events_refused(self) -> None:
        """Who may not follow events is told."""
        self.script = lambda head, body: (b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", False)

        async def use(client: Any) -> None:
            async with aclosing(client.events()) as events:
                async for _ in events:
                    self.fail("an event")

        try:
            await self.run_on(self.at(), use)
        except RapiError as error:
            self.assertEqual(error.status, 403)
        else:
            self.fail("not refused")


class BlockingClientTests(ClientContract, TestCase):
    """The client that blocks."""

    style = staticmethod(client_styles.blocking)

    async def test_close_meanwhile(self) -> None:
        """A call that is under way when the client is closed is answered, and its connection is not kept."""

        def script(head: str, body: bytes) -> tuple[bytes, bool]:
            client.close()
            return ok("2")

        self.script = script
        client = Client(self.at())
        self.assertEqual([await deferToThread(client.get_version) for _ in range(2)], [2, 2])
        self.assertEqual(self.server.connections, 2)

    async def test_several_threads(self) -> None:
        """Threads that share a client get each its own answer, also the one that asked later and has it first."""
        asked = threading.Event()

        def script(head: str, body: bytes) -> tuple[bytes, bool]:
            if "/version" in head:
                asked.wait(LIMIT)
                return ok("2")
            asked.set()
            return ok('["a"]')

        self.script = script
        with Client(self.at(answer_timeout=LIMIT / 2)) as client:
            version = deferToThread(client.get_version)
            while not self.server.heads:
                await deferLater(client_styles.reactor, 0.01)
            self.assertEqual(await deferToThread(client.get_features), ["a"])
            self.assertEqual(await version, 2)


class AsyncioClientTests(ClientContract, TestCase):
    """The client on asyncio."""

    style = staticmethod(client_styles.with_asyncio)

    async def test_several_loops(self) -> None:
        """A client outlives a loop, and can be closed without one."""

        def run() -> list[int]:
            client = on_asyncio.client(self.at())
            answers = [asyncio.run(client.get_version()) for _ in range(2)]
            client.close()
            return answers

        self.assertEqual(await deferToThread(run), [2, 2])


class TwistedClientTests(ClientContract, TestCase):
    """The client on Twisted."""

    style = staticmethod(client_styles.with_twisted)
