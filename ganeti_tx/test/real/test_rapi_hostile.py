"""Hostile and faulty clients of the Remote API over real sockets: others are served, and its memory stays bounded."""

import contextlib
import socket
import ssl
import time

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.rapi.channel import HEAD_LIMIT
from ganeti_tx.test.rapi.requests import parse
from ganeti_tx.test.real.attacks import MIB, Memory
from ganeti_tx.test.real.programs import until
from ganeti_tx.test.real.rapi_process import RapiProcess, heard

MOST = 100
#: Connections that come and say nothing, and how many of the last ones are not closed by who made them.
IDLE, KEPT = 10_000, 500
#: What any attack may cost the daemon at its height.
BOUND = 48 * MIB
LARGE = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
PUT = b"PUT /2/tags HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d"


class HostileCase(SynchronousTestCase):
    """A Remote API with room for a hundred connections."""

    def setUp(self) -> None:
        self.rapi = RapiProcess(f"--max-clients={MOST}")
        self.addCleanup(self.rapi.close)
        self.open: list[socket.socket] = []
        self.addCleanup(self.leave)
        self.assertGreater(len(self.rapi.ask(LARGE[:-4]).body), 64 * 1024)
        self.memory = Memory(self.rapi.process.pid)
        self.before = self.memory.now()
        self.memory.forget_peak()

    def leave(self) -> None:
        """Close all connections."""
        for each in self.open:
            each.close()

    def connect(self) -> ssl.SSLSocket:
        """A connection that stays open."""
        made = self.rapi.connect()
        self.open.append(made)
        return made

    def still_serves(self) -> None:
        """Others are served, and nothing has grown."""
        self.assertEqual(self.rapi.version(), 2)
        self.assertLess(self.memory.peak() - self.before, BOUND)


class SlowTests(HostileCase):
    """Clients that take their time."""

    def test_slow(self) -> None:
        """Who does not shake hands, send a head, or send a body in time is sent away; others do not wait."""
        mute = socket.create_connection((self.rapi.address, 5080), timeout=30)
        self.open.append(mute)
        head, body = self.connect(), self.connect()
        head.sendall(b"GET /version HTTP/1.1\r\n")
        body.sendall(PUT % 10 + b"\r\n\r\n[")
        began = time.monotonic()
        while time.monotonic() < began + HEAD_LIMIT - 2:
            head.sendall(b"X-Drip: 1\r\n")
            self.still_serves()
            time.sleep(0.5)
        for slow in (head, body):
            self.assertEqual([each.status for each in parse(heard(slow))], [408])
        with contextlib.suppress(ConnectionResetError):
            self.assertEqual(mute.recv(1), b"")

    def test_slow_readers(self) -> None:
        """Who asks for much and reads nothing has one answer waiting, however often he asks."""
        for _ in range(MOST // 2):
            self.connect().sendall(LARGE * 20)
        self.still_serves()

    def test_pipelined_flood(self) -> None:
        """A flood of requests without a reader stops at what the sockets take."""
        flood = self.connect()
        flood.settimeout(0.5)
        sent = 0
        with self.assertRaises((TimeoutError, ssl.SSLError)):
            while sent < 64 * MIB:
                sent += flood.send(LARGE * 1000)
        self.still_serves()


class ManyTests(HostileCase):
    """More clients than there is room for."""

    def test_idle_flood(self) -> None:
        """Of ten thousand idle connections as many stay as there is room for; who works is served all the time."""
        for number in range(IDLE):
            self.connect()
            if number % 500 == 0:
                self.still_serves()
            if number >= KEPT:  # it was sent away long ago; this process may not have so many files
                self.open[number - KEPT].close()
        self.still_serves()
        until(lambda: self.rapi.sockets() < MOST + 30, "the end of those that were sent away")


class SizeTests(HostileCase):
    """Too much, or what nobody can read."""

    def test_announced(self) -> None:
        """A gigabyte is refused before any of it is read."""
        self.assertEqual(self.rapi.ask(PUT % 2**30).status, 413)
        self.still_serves()

    def test_tricks(self) -> None:
        """Paths lead nowhere but to resources, and nothing of them comes back as a header or as HTML."""
        for path in (
            *(b"/..", b"/2/../version", b"//version", b"/2/%2e%2e/version", b"/2%2finfo", b"/version%00", b"/version/"),
            *(b"/2/instances/a%0d%0aX-Evil:%201", b"/2/<script>", b"/" + b"a" * 8000, b"http://evil.example/nothing"),
        ):
            answer = self.rapi.ask(b"GET " + path + b" HTTP/1.1\r\nHost: x")
            self.assertEqual((path[:30], answer.status), (path[:30], 404))
            self.assertNotIn("x-evil", answer.headers)
            self.assertNotIn(b"<script>", answer.body)
        self.still_serves()

    def test_junk(self) -> None:
        """What is no HTTP is refused; what is no TLS is hung up on."""
        self.assertEqual(self.rapi.ask(b"\x00\xff" * 2000).status, 400)
        with socket.create_connection((self.rapi.address, 5080), timeout=30) as plain:
            plain.sendall(b"GET /version HTTP/1.1\r\n\r\n")
            self.assertNotIn(b"HTTP", plain.recv(1000))
        self.still_serves()


class TlsTests(SynchronousTestCase):
    """How connections are made."""

    def setUp(self) -> None:
        self.rapi = RapiProcess()
        self.addCleanup(self.rapi.close)

    def test_versions(self) -> None:
        """TLS 1.1 is refused, 1.2 is not."""
        for version, taken in ((ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True)):
            context = self.rapi.trust()
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = context.maximum_version = version
            if taken:
                self.rapi.connect(context).close()
            else:
                self.assertRaises((ssl.SSLError, OSError), self.rapi.connect, context)

    def test_resumption(self) -> None:
        """A client that comes back goes on with its session."""
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = self.rapi.trust()
            context.minimum_version = context.maximum_version = version
            with self.rapi.connect(context) as first:
                first.sendall(b"GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                heard(first)
                session = first.session
            with self.rapi.connect(context, session) as second:
                self.assertTrue(second.session_reused)

    def test_new_certificate(self) -> None:
        """A new certificate is shown from now on; one that cannot be read is not, and the old one stays."""
        new = self.rapi.new_certificate("other.example")
        until(lambda: self._shown_by(new), "the new certificate")
        self.rapi.paths.rapi_pem.write_bytes(b"nothing of the kind")
        self.assertTrue(self._shown_by(new))

    def _shown_by(self, authority: bytes) -> bool:
        try:
            self.rapi.connect(self.rapi.trust(authority)).close()
        except ssl.SSLCertVerificationError:
            return False
        return True
