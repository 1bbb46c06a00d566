"""What stands between two nodes of a migration under Xen, as a real program with real certificates."""

import time
from pathlib import Path
from shutil import which
from typing import Any

from twisted.internet import reactor
from twisted.internet.task import deferLater
from twisted.trial.unittest import SkipTest, TestCase

from ganeti_tx.bootstrap.keys import new_cluster_keys
from ganeti_tx.node.hypervisor.xen.layout import domain_layout
from ganeti_tx.node.hypervisor.xen.migration import LISTENING, log_of
from ganeti_tx.node.hypervisor.xen.relay import Relays
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.runtime.reactor_process import ReactorProcessRunner
from ganeti_tx.runtime.threads import InlineThreads
from ganeti_tx.test.inprocess.node import cluster_keys, keys_of
from ganeti_tx.test.real.slapd import free_port

ADDRESS = "127.0.0.1"
#: Seconds for anything that takes next to no time.
LIMIT = 60.0


class RelayTests(TestCase):
    """Two nodes of a cluster on this machine, and a stranger."""

    def setUp(self) -> None:
        if which("socat") is None:
            raise SkipTest("socat is not installed")
        clock: Any = reactor
        self.files, self.runner = RealFiles(InlineThreads()), ReactorProcessRunner(clock, clock)
        self.places = [Paths(Path(self.mktemp()).absolute()) for _ in range(3)]
        keys = [cluster_keys()[1], keys_of("node2.example.com", "192.0.2.2"), keys_of("node3.example.com", "192.0.2.3")]
        for paths, own in zip(self.places, keys, strict=True):
            paths.data_dir.mkdir(parents=True)
            paths.server_pem.write_bytes(own.server.bundle)
            paths.client_pem.write_bytes(own.client.bundle)
            paths.authority_pem.write_bytes(own.authority)
        self.relays = [Relays(paths, self.files, self.runner, clock) for paths in self.places]
        self.layouts = [domain_layout(paths, "xen-pvm", "web1") for paths in self.places]
        for layout in self.layouts:
            layout.directory.mkdir(parents=True)
            layout.log.parent.mkdir(parents=True)
        self.port = free_port()

    async def listen(self) -> int:
        """Have the first node wait; the process."""
        layout = self.layouts[0]
        argv = self.relays[0].listening(layout, ADDRESS, self.port, ["cat"])
        pid = self.runner.run_detached(argv, log=layout.log)
        until = time.monotonic() + LIMIT
        while LISTENING not in log_of(self.files, layout):
            assert time.monotonic() < until, log_of(self.files, layout)
            await deferLater(reactor, 0.05)
        return pid

    async def sent(self, number: int, data: bytes) -> ProcessResult:
        """What comes back of what a node sends."""
        argv = self.relays[number].connecting(self.layouts[number], ADDRESS, self.port)
        return await self.runner.run(argv, stdin=data, timeout=LIMIT)

    async def test_carried(self) -> None:
        """All bytes get there and back; then both programs end."""
        pid = await self.listen()
        data = bytes(range(256)) * 4096
        result = await self.sent(1, data)
        self.assertEqual(result.status, 0, result.describe())
        self.assertTrue(result.stdout == data)
        self.assertTrue(await self.relays[0].has_ended(pid, self.layouts[0], LIMIT))

    async def test_stranger(self) -> None:
        """Nothing is carried for who has a certificate of another authority, nor to one."""
        self.places[2].client_pem.write_bytes(self.strangers())
        pid = await self.listen()
        result = await self.sent(2, b"domain")
        self.assertEqual(result.stdout, b"")
        self.assertTrue(await self.relays[0].has_ended(pid, self.layouts[0], LIMIT))
        self.assertIn(b"certificate verify failed", log_of(self.files, self.layouts[0]))

    async def test_ended(self) -> None:
        """One that waits is ended by the file that it has left, and nobody else's process by a file that is old."""
        pid = await self.listen()
        await self.relays[0].end(self.layouts[0])
        self.assertFalse(self.relays[0].is_alive(pid, self.layouts[0]))
        self.assertFalse(self.layouts[0].relay.exists())
        self.layouts[0].relay.write_text("1")
        await self.relays[0].end(self.layouts[0])

    def strangers(self) -> bytes:
        """The key and certificate of another cluster's node."""
        return new_cluster_keys("other.example.com", "node1.example.com", ["192.0.2.1"])[1].client.bundle
