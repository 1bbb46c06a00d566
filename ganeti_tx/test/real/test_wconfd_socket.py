"""WConfD on a real unix socket, real files and real livelocks, with job processes' clients."""

import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

from msgspec.structs import replace
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.trial.unittest import TestCase

from ganeti_tx.config.upgrade import with_members
from ganeti_tx.locking.interfaces import Level, Lock, LockRequest, Mode, Owner
from ganeti_tx.model.config_data import decode, encode
from ganeti_tx.model.enums import TagKind
from ganeti_tx.runtime.entropy import SystemEntropy
from ganeti_tx.runtime.file_lock import HeldFile
from ganeti_tx.runtime.files import RealFiles
from ganeti_tx.runtime.livelock import FlockLiveness, create_livelock
from ganeti_tx.runtime.paths import Paths
from ganeti_tx.runtime.reactors import ISocketReactor
from ganeti_tx.runtime.threads import reactor_threads
from ganeti_tx.test.config.stores import CONFIG
from ganeti_tx.test.model.samples import NODE
from ganeti_tx.test.wconfd.protocol.loopback import MASTER, RecordingRpc
from ganeti_tx.wconfd.protocol.client import WconfClient
from ganeti_tx.wconfd.service import Wconfd, WconfdParts, build_wconfd, listen

A = Lock(Level.INSTANCE, "a")


class SocketTests(TestCase):
    """One WConfD below a temporary root."""

    timeout = 300

    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.paths = Paths(self.root)
        for path in (self.paths.data_dir, self.paths.livelock_dir, self.paths.socket_dir):
            path.mkdir(parents=True)
        self.paths.config_file.write_bytes(encode(with_members(replace(CONFIG, nodes={NODE.uuid: NODE}))))
        self.client = WconfClient(cast(ISocketReactor, reactor), self.paths.wconfd_socket)
        self.addCleanup(self.client.close)

    async def start(self) -> tuple[Wconfd, Callable[[], Awaitable[None]]]:
        """Bring it up."""
        parts = WconfdParts(
            own_name=MASTER,
            paths=self.paths,
            files=RealFiles(reactor_threads(reactor)),  # type: ignore[arg-type]
            clock=reactor,
            now=time.time,
            make_rpc=RecordingRpc,
            liveness=FlockLiveness(),
            entropy=SystemEntropy(),
        )
        wconfd = await build_wconfd(parts)
        return wconfd, await listen(wconfd, cast(ISocketReactor, reactor), self.paths)

    def job(self, number: int) -> tuple[Owner, HeldFile]:
        """A living job."""
        livelock = create_livelock(self.paths.livelock_dir, f"job-{number}", time.time)
        self.addCleanup(livelock.release)
        return Owner(number, str(livelock.path)), livelock

    async def test_life(self) -> None:
        """Changes reach the disk, locks survive a restart, the dead lose them."""
        wconfd, stop = await self.start()
        self.assertEqual(os.stat(self.paths.wconfd_socket).st_mode & 0o777, 0o600)
        one, livelock = self.job(1)
        two, _ = self.job(2)
        config, locks, locks2 = self.client.config(one), self.client.locks(one), self.client.locks(two)
        await config.change_tags(TagKind.CLUSTER, None, ["new"], [])
        self.assertIn("new", decode(self.paths.config_file.read_bytes()).cluster.tags)
        await config.when_distributed()
        self.assertEqual(self.paths.ssconf_file("cluster_tags").read_text(), "a\nb\nnew\n")
        await locks.update([LockRequest.exclusive(A)])
        waiting = Deferred.fromCoroutine(locks2.update([LockRequest.exclusive(A)]))
        self.assertEqual((await config.node("node1")).name, MASTER)
        await stop()
        wconfd, stop = await self.start()
        self.assertEqual(await locks.held(), {A: Mode.EXCLUSIVE})
        self.assertFalse(waiting.called)
        livelock.release()
        wconfd.owners.release_dead()
        await waiting
        self.assertEqual(await locks2.held(), {A: Mode.EXCLUSIVE})
        self.client.close()
        await stop()
