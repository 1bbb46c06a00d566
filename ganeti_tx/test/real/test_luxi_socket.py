"""LUXI over a real unix socket: the server on Twisted with each of its clients."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from twisted.internet import reactor as global_reactor
from twisted.internet.defer import Deferred
from twisted.internet.task import deferLater
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

import ganeti_tx
from ganeti_tx.errors import GanetiError, JobLost
from ganeti_tx.luxi import on_twisted, transport_errors
from ganeti_tx.luxi.client import Client
from ganeti_tx.luxi.framing import MAX_REQUEST
from ganeti_tx.luxi.limits import Limits
from ganeti_tx.luxi.peer import Peer
from ganeti_tx.luxi.server import LuxiFactory
from ganeti_tx.runtime.daemon_control import DaemonControl

reactor: Any = global_reactor
LARGE = 3_000_000
#: Child processes find the package where this process found it.
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(ganeti_tx.__file__).parent.parent)}

ASYNCIO_PROGRAM = """
import asyncio, sys
from ganeti_tx.errors import JobLost
from ganeti_tx.luxi import transport_errors
from ganeti_tx.luxi.on_asyncio import client

async def main(path):
    master = client(path)
    print(await asyncio.gather(master.query_tags("node", "a"), master.submit_job([{"OP_ID": "OP_TEST_DELAY"}])))
    try:
        await master.archive_job(9)
    except JobLost as error:
        print(error)
    print(len((await master.query_cluster_info())["name"]))
    waiting = asyncio.ensure_future(master.wait_for_job_change(1, [], None, None))
    await asyncio.sleep(0)
    waiting.cancel()
    master.close()
    try:
        await client(path, answer_timeout=0.05).wait_for_job_change(1, [], None, None)
    except transport_errors.TimeoutError as error:
        print(error)
    try:
        await client(path + "-none").archive_job(1)
    except transport_errors.NoMasterError as error:
        print(error)

asyncio.run(main(sys.argv[1]))
print("twisted" in sys.modules)
"""


class Dispatch:
    """A server that knows a few things and waits for ever for a job."""

    def __init__(self) -> None:
        self.peer: Peer | None = None
        self.waiting: list[Deferred[object]] = []
        self.came: Deferred[None] = Deferred()
        self.cancelled: Deferred[None] = Deferred()

    async def __call__(self, method: str, args: list[object], peer: Peer | None) -> object:
        self.peer = peer
        match method:
            case "WaitForJobChange":
                self.waiting.append(Deferred(self.gone))
                if not self.came.called:
                    self.came.callback(None)
                return await self.waiting[-1]
            case "ArchiveJob":
                raise JobLost(f"Job {args[0]} lost")
            case "SubmitJob":
                return 17
            case "QueryClusterInfo":
                return {"name": "é" * LARGE}
        return [method, *args]

    def gone(self, waiting: Deferred[object]) -> None:
        """A call was cancelled."""
        if not self.cancelled.called:
            self.cancelled.callback(None)


class SocketTests(TestCase):
    """A server in this process."""

    timeout = 300

    def setUp(self) -> None:
        # The path of a unix socket is at most 107 bytes long.
        self.path = os.path.relpath(self.mktemp())
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        self.dispatch = Dispatch()
        self.factory = LuxiFactory(self.dispatch, reactor, limits=Limits(unread=30))
        self.port = reactor.listenUNIX(self.path, self.factory, backlog=5, mode=0o660)
        self.addCleanup(self.port.stopListening)

    async def test_blocking_client(self) -> None:
        """The blocking client gets results, errors and large answers over one connection."""

        def use() -> list[Any]:
            with Client(self.path) as client:
                got: list[Any] = [client.query_tags("node", "é"), client.submit_job([{"OP_ID": "OP_TEST_DELAY"}])]
                try:
                    client.archive_job("9")
                except JobLost as error:
                    got.append(str(error))
                return [*got, len(client.query_cluster_info()["name"])]

        self.assertEqual(await deferToThread(use), [["QueryTags", "node", "é"], 17, "Job 9 lost", LARGE])
        self.assertEqual(self.dispatch.peer, Peer(os.getpid(), os.getuid(), os.getgid()))

    async def test_server_closed_an_idle_connection(self) -> None:
        """A call on a connection that the server has closed meanwhile opens another."""
        client = Client(self.path)
        self.addCleanup(client.close)
        self.assertEqual(await deferToThread(client.submit_job, []), 17)
        self.factory.stopFactory()
        while self.factory.connections:
            await deferLater(reactor, 0)
        self.assertEqual(await deferToThread(client.submit_job, []), 17)

    async def test_server_goes_away(self) -> None:
        """A server that closes instead of answering is an error, and not tried again: the job may be there."""
        client = Client(self.path)
        waiting = deferToThread(client.wait_for_job_change, 1, [], None, None)
        await self.dispatch.came
        self.factory.stopFactory()
        await self.assertFailure(waiting, transport_errors.ConnectionClosedError)
        await self.dispatch.cancelled

    async def test_time_limit(self) -> None:
        """A server that does not answer in time is an error."""
        client = Client(self.path, io_timeout=0.05)
        waiting = deferToThread(client.wait_for_job_change, 1, [], None, None)
        await self.assertFailure(waiting, transport_errors.TimeoutError)

    async def test_long_request(self) -> None:
        """A request over the server's limit is an error at the client, and the server takes others."""
        client = Client(self.path)
        self.addCleanup(client.close)
        too_long = deferToThread(client.query_tags, "node", "x" * MAX_REQUEST)
        await self.assertFailure(too_long, transport_errors.ProtocolError)
        self.assertEqual(await deferToThread(client.submit_job, []), 17)

    async def test_twisted_client(self) -> None:
        """The client on Twisted overlaps its calls; each gets its own answer."""
        client = on_twisted.client(reactor, self.path)
        calls: list[Deferred[Any]] = [
            Deferred.fromCoroutine(call)
            for call in (client.query_tags("node", "a"), client.archive_job(9), client.query_cluster_info())
        ]
        self.assertEqual(await calls[0], ["QueryTags", "node", "a"])
        await self.assertFailure(calls[1], JobLost)
        self.assertEqual(len((await calls[2])["name"]), LARGE)
        client.close()

    async def test_client_that_hangs_up(self) -> None:
        """When a client hangs up while it waits for a job, the server notices and stops waiting for it."""
        client = on_twisted.client(reactor, self.path)
        waiting = Deferred.fromCoroutine(client.wait_for_job_change(1, [], None, None))
        await self.dispatch.came
        client.close()
        await self.assertFailure(waiting, transport_errors.ConnectionClosedError)
        await self.dispatch.cancelled

    async def test_asyncio_client(self) -> None:
        """The same client runs on asyncio, in a process without Twisted."""
        command = [sys.executable, "-c", ASYNCIO_PROGRAM, self.path]
        done = await deferToThread(subprocess.run, command, capture_output=True, text=True, timeout=60, env=ENVIRONMENT)
        lines = done.stdout.splitlines()
        self.assertEqual(done.stderr, "")
        self.assertEqual(
            lines[:4], ["[['QueryTags', 'node', 'a'], 17]", "Job 9 lost", str(LARGE), "No answer within 0.05 seconds"]
        )
        self.assertIn(DaemonControl.here().command("start", "ganeti-master"), lines[4])
        self.assertEqual(lines[5], "False")


class NobodyTests(TestCase):
    """Sockets on which nobody answers."""

    def setUp(self) -> None:
        self.path = os.path.relpath(self.mktemp())
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)

    def listen(self, backlog: int) -> socket.socket:
        """A socket whose owner takes no connection."""
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(listening.close)
        listening.bind(self.path)
        listening.listen(backlog)
        return listening

    def refused(self, kind: type[GanetiError], client: Client) -> str:
        """The text with which a call fails."""
        return str(self.assertRaises(kind, client.submit_job, []))

    async def test_no_daemon(self) -> None:
        """Without a socket, or with one that nobody owns, both clients say who is missing and how to start it."""
        for _ in ("no socket", "nobody listens"):
            text = self.refused(transport_errors.NoMasterError, Client(self.path))
            for part in ("ganeti-luxid", self.path, DaemonControl.here().command("start", "ganeti-master")):
                self.assertIn(part, text)
            waiting = Deferred.fromCoroutine(on_twisted.client(reactor, self.path).submit_job([]))
            error = await self.assertFailure(waiting, transport_errors.NoMasterError)
            self.assertEqual(str(error), text)
            if not os.path.exists(self.path):
                self.listen(1).close()

    def test_full_listen_queue(self) -> None:
        """A server too busy to take connections is waited for, but not for ever."""
        self.listen(0)
        first = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(first.close)
        first.connect(self.path)
        text = self.refused(transport_errors.TimeoutError, Client(self.path, connect_timeout=0.06))
        self.assertIn("took no connection", text)

    def test_no_permission(self) -> None:
        """Who may not open the socket is told so."""
        if os.getuid() != 0:
            self.listen(1)
            os.chmod(self.path, 0)
            self.refused(transport_errors.PermissionError, Client(self.path))
            return
        self.listen(1)
        path = os.path.abspath(self.path)
        program = (
            "import os, sys; from ganeti_tx.luxi.client import Client; from ganeti_tx.luxi import transport_errors\n"
            "listening = sys.argv[1]; os.chdir(os.path.dirname(listening)); os.chmod(os.path.basename(listening), 0o600)\n"
            "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "try: Client(os.path.basename(listening)).submit_job([])\n"
            "except transport_errors.PermissionError as error: print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, path], capture_output=True, text=True, timeout=60, env=ENVIRONMENT
        )
        self.assertIn("No permission to use", done.stdout)


class ImportTests(TestCase):
    """What a command pays for its client."""

    def test_client_is_lean(self) -> None:
        """The blocking client brings neither Twisted, msgspec, attrs nor asyncio with it."""
        program = (
            "import sys, ganeti_tx.luxi.client\n"
            "print(sorted({'twisted', 'msgspec', 'attr', 'asyncio', 'inspect', 'txaio'} & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=ENVIRONMENT
        )
        self.assertEqual(done.stdout, "[]\n")
