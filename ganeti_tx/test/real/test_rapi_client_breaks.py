"""Each client of the Remote API where TLS itself breaks, before and after the server is known to be the right one."""

import datetime
import select
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from ganeti_tx.rapi_client import CertificateError, NoAnswerError, Server, on_twisted
from ganeti_tx.rapi_client.trust import Authorities
from ganeti_tx.runtime.certificates import create_authority, issue_server
from ganeti_tx.test.real import client_styles

NOW = datetime.datetime.now(datetime.UTC)
AUTHORITY = create_authority("breaking", NOW)
LIMIT = 30.0


class BreakingContract:
    """What holds for every kind of client."""

    style: Any
    addCleanup: Any
    assertNotIsInstance: Any
    fail: Any

    async def error_at(self, treat: Callable[[socket.socket], None]) -> NoAnswerError:
        """What a call fails with whose connections are treated like this."""
        listening = socket.create_server(("127.0.0.1", 0))
        thread = threading.Thread(target=accept, args=(listening, treat))
        thread.start()
        self.addCleanup(deferToThread, thread.join, LIMIT)
        self.addCleanup(listening.shutdown, socket.SHUT_RDWR)
        trust = Authorities(AUTHORITY.certificate.decode())
        server = Server("127.0.0.1", listening.getsockname()[1], trust=trust, retries=0)
        try:
            await self.style(server, lambda client: client.get_version())
        except NoAnswerError as error:
            return error
        self.fail("an answer")
        raise AssertionError

    async def test_closed_before_tls(self) -> None:
        """A server that goes away before TLS has begun, as when it is started again, is none with a wrong certificate."""
        self.assertNotIsInstance(await self.error_at(close_after_hello), CertificateError)

    async def test_spoiled_later(self) -> None:
        """Nor is one whose answer is spoiled on its way: the request has been sent then."""
        self.assertNotIsInstance(await self.error_at(spoil_answer), CertificateError)


def accept(listening: socket.socket, treat: Callable[[socket.socket], None]) -> None:
    """Treat every connection until nobody listens any more."""
    with listening:
        while True:
            try:
                plain, _ = listening.accept()
            except OSError:
                return
            with plain:
                plain.settimeout(LIMIT)
                treat(plain)


def close_after_hello(plain: socket.socket) -> None:
    """Say nothing."""
    plain.recv(65536)


def spoil_answer(plain: socket.socket) -> None:
    """Answer with bytes that were changed on the way."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:
        file.write(issue_server(AUTHORITY, ["127.0.0.1"], NOW).bundle)
        file.flush()
        tls.load_cert_chain(Path(file.name))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    talk = tls.wrap_bio(incoming, outgoing, server_side=True)
    for step in (talk.do_handshake, lambda: talk.read(65536)):
        while True:
            try:
                step()
                break
            except ssl.SSLWantReadError:
                plain.sendall(outgoing.read())
                incoming.write(plain.recv(65536))
        plain.sendall(outgoing.read())
    talk.write(b"HTTP/1.1 200 OK\r\n")
    record = bytearray(outgoing.read())
    record[-1] ^= 1
    plain.sendall(record)


class BlockingClientTests(BreakingContract, TestCase):
    """The client that blocks."""

    style = staticmethod(client_styles.blocking)


class AsyncioClientTests(BreakingContract, TestCase):
    """The client on asyncio."""

    style = staticmethod(client_styles.with_asyncio)


class TwistedClientTests(BreakingContract, TestCase):
    """The client on Twisted."""

    style = staticmethod(client_styles.with_twisted)

    async def test_cancelled(self) -> None:
        """Who cancels is told that, also while the address is looked up or TLS begins; nothing is left behind."""
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.setblocking(False)
            client = on_twisted.client(client_styles.reactor, Server("127.0.0.1", listening.getsockname()[1]))
            for wait in (False, True):
                call = Deferred.fromCoroutine(client.get_version())
                while wait and not select.select([listening], [], [], 0)[0]:
                    await deferLater(client_styles.reactor, 0.01)
                call.cancel()
                try:
                    await call
                except CancelledError:
                    continue
                self.fail("not cancelled")
