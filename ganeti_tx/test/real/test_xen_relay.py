"""What stands between two nodes of a migration under Xen, as a real program with real certificates."""

import socket
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

import attrs
from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.node.hypervisor.interfaces import TlsPair
from ganeti_tx.node.hypervisor.xen.layout import domain_layout
from ganeti_tx.node.hypervisor.xen.migration import LISTENING, log_of
from ganeti_tx.node.hypervisor.xen.relay import Relays, give_keys
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.inprocess.node_keys import keys_of
from ganeti_tx.test.real.migration_pairs import pairs
from ganeti_tx.test.real.slapd import free_port

ADDRESS = "127.0.0.1"
#: Seconds for anything that takes next to no time.
LIMIT = 60.0
#: And that a stranger may say nothing.
SILENCE = 1


class PartsOfRecords:
    """TLS whose bytes are sent when the test wants them to be."""

    def __init__(self, context: ssl.SSLContext, link: socket.socket) -> None:
        self.link, self.come, self.to_send = link, ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.come, self.to_send)

    def done(self, step: Callable[[], Any]) -> Any:
        """What it comes to, once the other side has said enough."""
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                self.link.sendall(self.to_send.read())
                self.come.write(self.link.recv(1 << 16))
            finally:
                self.link.sendall(self.to_send.read())


class RelayTests(TestCase):
    """Two nodes of a migration on this machine, and another node of their cluster, which was removed."""

    def setUp(self) -> None:
        if which("socat") is None:
            raise SkipTest("socat is not installed")
        clock: Any = reactor
        self.files, self.runner = RealFiles(InlineThreads()), ReactorProcessRunner(clock, clock)
        places = [Paths(Path(self.mktemp()).absolute()) for _ in range(3)]
        self.relays = Relays(self.files, self.runner, clock, SILENCE)
        self.layouts = [domain_layout(paths, "xen-pvm", "web1") for paths in places]
        for layout in self.layouts:
            layout.directory.mkdir(parents=True)
            layout.log.parent.mkdir(parents=True)
        self.port = free_port()
        old, new = pairs()
        removed = keys_of("node3.example.com", "192.0.2.3").client
        self.pairs = [new, old, TlsPair(removed, new.own.certificate, new.peer_name)]

    async def listen(self) -> int:
        """Have the first node wait; the process."""
        layout = self.layouts[0]
        await give_keys(self.files, layout, self.pairs[0])
        argv = self.relays.listening(layout, ADDRESS, self.port, ["cat"])
        pid = self.runner.run_detached(argv, log=layout.log)
        self.addCleanup(self.relays.end, layout)  # whoever was refused has it wait on
        await self.says(LISTENING)
        return pid

    async def says(self, words: bytes, times: int = 1) -> None:
        """The first node's program does so."""
        until = time.monotonic() + LIMIT
        while log_of(self.files, self.layouts[0]).count(words) < times:
            assert time.monotonic() < until, log_of(self.files, self.layouts[0])
            await deferLater(reactor, 0.05)

    async def sent(self, number: int, data: bytes) -> ProcessResult:
        """What comes back of what a node sends."""
        await give_keys(self.files, self.layouts[number], self.pairs[number])
        argv = self.relays.connecting(self.layouts[number], ADDRESS, self.port)
        return await self.runner.run(argv, stdin=data, timeout=LIMIT)

    async def test_carried(self) -> None:
        """All bytes get there and back; then both programs end."""
        pid = await self.listen()
        data = bytes(range(256)) * 4096
        result = await self.sent(1, data)
        self.assertEqual(result.status, 0, result.describe())
        self.assertTrue(result.stdout == data)
        self.assertTrue(await self.relays.has_ended(pid, self.layouts[0], LIMIT))

    async def test_removed_node_sends(self) -> None:
        """Nothing is carried for who has a certificate of the cluster's authority, but is not the other node."""
        await self.listen()
        result = await self.sent(2, b"domain")
        self.assertEqual(result.stdout, b"")
        await self.says(LISTENING, times=2)
        self.assertEqual((await self.sent(1, b"domain")).stdout, b"domain")

    async def test_stranger(self) -> None:
        """Whoever comes first and knows no TLS keeps the other node from nothing."""
        await self.listen()
        with socket.create_connection((ADDRESS, self.port), LIMIT) as link:
            link.sendall(b"GET / HTTP/1.0\r\n\r\n")
            await self.says(LISTENING, times=2)
        self.assertEqual((await self.sent(1, b"domain")).stdout, b"domain")

    async def test_silent_stranger(self) -> None:
        """Nor does who says nothing, and stays."""
        await self.listen()
        with socket.create_connection((ADDRESS, self.port), LIMIT):
            await self.says(b"accepting connection")
            self.assertEqual((await self.sent(1, b"domain")).stdout, b"domain")

    async def test_slow_node(self) -> None:
        """The other node, once it is known, may be silent for longer, also in the midst of what it sends."""
        await self.listen()
        await give_keys(self.files, self.layouts[1], self.pairs[1])
        context = ssl.create_default_context(cafile=str(self.layouts[1].peer))
        context.check_hostname = False
        context.load_cert_chain(self.layouts[1].own_key)
        with socket.create_connection((ADDRESS, self.port), LIMIT) as link:
            node = PartsOfRecords(context, link)
            node.done(node.tls.do_handshake)
            node.tls.write(b"domain")
            record = node.to_send.read()
            link.sendall(record[:9])
            await deferLater(reactor, SILENCE + 0.5)
            link.sendall(record[9:])
            self.assertEqual(node.done(node.tls.read), b"domain")

    async def test_removed_node_waits(self) -> None:
        """Nor to one."""
        self.pairs[0] = attrs.evolve(self.pairs[0], own=keys_of("node3.example.com", "192.0.2.3").server)
        await self.listen()
        result = await self.sent(1, b"memory")
        self.assertEqual(result.stdout, b"")
        self.assertIn(b"certificate verify failed", result.stderr)

    async def test_ended(self) -> None:
        """One that waits is ended by the file that it has left, and nobody else's process by a file that is old."""
        pid = await self.listen()
        await self.relays.end(self.layouts[0])
        self.assertFalse(self.relays.is_alive(pid, self.layouts[0]))
        self.assertFalse(self.layouts[0].relay.exists())
        self.layouts[0].relay.write_text("1")
        await self.relays.end(self.layouts[0])
