"""Confd over real sockets: each client with the server, and the daemon under attack and under change."""

import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from random import Random
from typing import Any

from msgspec.structs import replace
from twisted.internet import reactor as global_reactor
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import SkipTest, SynchronousTestCase

from ganeti_tx.confd import on_asyncio, on_twisted, questions
from ganeti_tx.confd.blocking import BlockingClient
from ganeti_tx.confd.codec import Key, envelope_of
from ganeti_tx.confd.poll import Answer, Peer
from ganeti_tx.confd.port import AT_ONCE, ConfdPort
from ganeti_tx.confd.protocol import ConfdProtocol, Present
from ganeti_tx.confd.questions import Question
from ganeti_tx.errors import ConfdClientError, ExitCode
from ganeti_tx.model.config_data import ConfigData
from ganeti_tx.runtime.addresses import is_own_address
from ganeti_tx.test.confd.cases import CLUSTER, CONFIG, present, request
from ganeti_tx.test.confd.cases import KEY as CASE_KEY
from ganeti_tx.test.contracts.confd_client import ConfdClientContract
from ganeti_tx.test.model import samples
from ganeti_tx.test.real.confd_daemon import KEY, ConfdDaemon

reactor: Any = global_reactor
EXPIRY = 0.5
MIB = 1024 * 1024
LIMIT = 30.0
#: More than select() takes.
MANY_FILES = 1100


class SocketCase(ConfdClientContract):
    """The contract against servers on sockets of this machine."""

    def serve(self, *servers: Present | None) -> None:
        """See the contract."""
        self.peers: list[Peer] = []
        for state in servers:
            if state is None:
                port: Any = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                port.bind(("127.0.0.1", 0))
                self.addCleanup(port.close)
                self.peers.append(Peer(*port.getsockname()))
            else:
                port = ConfdPort(0, ConfdProtocol(state, time.time), "127.0.0.1", reactor)
                port.startListening()
                self.addCleanup(port.stopListening)
                self.peers.append(Peer("127.0.0.1", port.getHost().port))

    def test_families(self) -> "Deferred[None]":
        """Servers over IPv4 and over IPv6 are asked together."""
        if not is_own_address("::1"):
            raise SkipTest("no IPv6 on this machine")

        async def asking() -> None:
            self.serve(present())
            port = ConfdPort(0, ConfdProtocol(present(), time.time), "::1", reactor)
            port.startListening()
            self.addCleanup(port.stopListening)
            self.peers.append(Peer("::1", port.getHost().port))
            self.assertEqual(set((await self.ask(questions.ping())).peers), set(self.peers))

        return Deferred.fromCoroutine(asking())


class TwistedTests(SocketCase):
    """The client on Twisted."""

    def ask(self, question: Question[Any]) -> Awaitable[Answer[Any]]:
        """See the contract."""
        client = on_twisted.client(reactor, CASE_KEY, lambda: self.peers, expiry=EXPIRY)
        self.addCleanup(client.close)
        return client.ask(question)


class AsyncioTests(SocketCase):
    """The client on asyncio, in a loop of its own."""

    def ask(self, question: Question[Any]) -> Awaitable[Answer[Any]]:
        """See the contract."""

        async def asking() -> Answer[Any]:
            client = on_asyncio.client(CASE_KEY, lambda: self.peers, expiry=EXPIRY)
            try:
                return await client.ask(question)
            finally:
                client.close()

        return deferToThread(lambda: asyncio.run(asking()))


class BlockingTests(SocketCase):
    """The client that blocks."""

    def ask(self, question: Question[Any]) -> Awaitable[Answer[Any]]:
        """See the contract."""
        return deferToThread(BlockingClient(CASE_KEY, self.peers, EXPIRY).ask, question)

    def test_no_socket(self) -> None:
        """Without a socket nobody can be asked, which is told in a line."""
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, allowed[1]))
        try:
            client = BlockingClient(CASE_KEY, [Peer("127.0.0.1", 9), Peer("::1", 9)], EXPIRY)
            error = self.assertRaises(ConfdClientError, client.ask, questions.ping())
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, allowed)
        self.assertIn("no socket", str(error))

    def test_many_open_files(self) -> "Deferred[None]":
        """A program with more than a thousand open files can ask too."""
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)
        if allowed[1] < MANY_FILES + 100:
            raise SkipTest("so many files may not be opened here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(allowed[0], MANY_FILES + 100), allowed[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, allowed)
        for _ in range(MANY_FILES):
            self.addCleanup(os.close, os.open(os.devnull, os.O_RDONLY))

        async def asking() -> None:
            self.serve(present())
            self.assertEqual((await self.ask(questions.ping())).value, 3000000)

        return Deferred.fromCoroutine(asking())


del ConfdClientContract, SocketCase  # else trial would run them by themselves


class ImportTests(SynchronousTestCase):
    """What programs without Twisted load."""

    def test_no_twisted(self) -> None:
        """Neither the command nor the asyncio client loads Twisted."""
        code = "import sys, ganeti_tx.confd.command, ganeti_tx.confd.on_asyncio; print('twisted' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        self.assertEqual(done.stdout.strip(), "False")


class DaemonCase(SynchronousTestCase):
    """A daemon of its own."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="gtx")
        self.addCleanup(directory.cleanup)
        self.daemon = ConfdDaemon(Path(directory.name) / "root", CONFIG)
        self.addCleanup(self.daemon.stop)
        self.client = BlockingClient(KEY, [self.daemon.peer])

    def run_command(self, *argv: str) -> "subprocess.CompletedProcess[str]":
        """ganeti-confd-client on this node."""
        where = ["--addr", self.daemon.peer.host, "--port", str(self.daemon.peer.port)]
        process = self.daemon.run("confd.command", "main", *where, *argv)
        output, errors = process.communicate(timeout=60)
        return subprocess.CompletedProcess(argv, process.returncode, output, errors)


class StartTests(DaemonCase):
    """Whether it starts, and what it says if not."""

    def test_no_candidate(self) -> None:
        """On a node without a configuration it runs and says so to who asks."""
        self.daemon.paths.config_file.unlink()
        self.daemon.start()
        with self.assertRaisesRegex(ConfdClientError, "^the node that was asked is not a master candidate$"):
            self.client.ask(questions.master())
        self.daemon.put(CONFIG)
        deadline = time.monotonic() + LIMIT
        done = self.run_command("ping")
        while done.returncode != 0 and time.monotonic() < deadline:
            done = self.run_command("ping")
        self.assertEqual((done.stdout, done.stderr), ("3000000\n", ""))

    def test_no_cluster(self) -> None:
        """On a node that is part of no cluster it ends with one line."""
        self.daemon.paths.hmac_key.unlink()
        process = self.daemon.run("daemons", "confd", *self.daemon.place())
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, ExitCode.NODESETUP_ERROR, errors)
        self.assertRegex(errors, r"^ganeti-confd: fatal: this node is not part of a cluster: no /[^\n]+\n$")

    def test_taken_port(self) -> None:
        """When the port is taken it says so in one line."""
        self.daemon.start()
        self.daemon.paths.pid_file("ganeti-confd").unlink()
        process = self.daemon.run("daemons", "confd", *self.daemon.place())
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, len(errors.splitlines())), (1, 1), errors)
        self.assertIn(str(self.daemon.peer.port), errors)


class CommandTests(DaemonCase):
    """ganeti-confd-client against a daemon."""

    def test_questions(self) -> None:
        """Answers go to standard output, plainly or as JSON; errors to the other, with status 1."""
        self.daemon.start()
        self.assertEqual(self.run_command("master").stdout, "node1.example.com 192.0.2.1 192.0.2.11\n")
        self.assertEqual(self.run_command("candidates").stdout, "192.0.2.11\n192.0.2.12\n")
        facts = json.loads(self.run_command("--json", "node-role", "node3").stdout)
        self.assertEqual(facts, {"answer": 4, "serial": 7, "peers": ["127.0.0.1"], "conflicting": []})
        done = self.run_command("node-role", "node9")
        said = "ganeti-confd-client: Node 'node9' not known\n"
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, "", said))


class AttackTests(DaemonCase):
    """What a daemon bears."""

    def test_flood(self) -> None:
        """A hundred thousand random datagrams cost no memory; true requests amid them are answered; nothing is logged."""
        self.daemon.start()
        random = Random(3)
        good = request(5, key=KEY, time=time.time())
        kinds = [b"", b"plj0", b"plj0{", b"x" * 60000, good[:-1], good[:40] + b"\0" + good[41:]]
        kinds += [request(0, key=KEY, time=time.time() + skew) for skew in (-3600, 3600, 86400)]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as attacker:
            for _ in range(1000):
                attacker.sendto(random.choice(kinds), self.daemon.peer)
            before = self.ask_until_quiet()
            for number in range(100_000):
                noise = random.choice(kinds) if number % 2 else random.randbytes(number % 200)
                attacker.sendto(noise, self.daemon.peer)
                if number % 10_000 == 0:
                    self.assertEqual(self.client.ask(questions.candidate_ips()).value[0], "192.0.2.11")
        after = self.ask_until_quiet()
        self.assertLess(after - before, 8 * MIB)
        log = self.daemon.stop()
        self.assertEqual([line for line in log.splitlines() if "rror" in line or "raceback" in line], [])

    def ask_until_quiet(self) -> int:
        """The memory once all that was sent has been read."""
        self.assertEqual(self.client.ask(questions.ping()).value, 3000000)
        return self.daemon.resident()

    def test_empty_datagrams(self) -> None:
        """A stream of empty datagrams does not keep a change of the configuration from being read."""
        self.daemon.start()
        self.daemon.put(replace(CONFIG, cluster=replace(CLUSTER, serial_no=8)))
        deadline = time.monotonic() + LIMIT
        serial = 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as attacker:
            while serial != 8 and time.monotonic() < deadline:
                for _ in range(20 * AT_ONCE):
                    attacker.sendto(b"", self.daemon.peer)
                try:
                    serial = self.client.ask(questions.candidate_ips()).serial
                except ConfdClientError:
                    continue  # the kernel drops what comes quicker than it is read
        self.assertEqual(serial, 8)


class ChangeTests(DaemonCase):
    """A configuration that changes while the daemon is asked."""

    def test_nothing_dropped(self) -> None:
        """While large configurations are read, each request has its answer, and none is older than one before."""
        self.daemon.put(large(100))
        self.daemon.start()
        serials: list[int] = []
        changes = 0
        deadline = time.monotonic() + LIMIT
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(LIMIT)
            number = 0
            while (not serials or serials[-1] < 104) and time.monotonic() < deadline:
                salts = {f"{number + each}" for each in range(16)}
                for salt in salts:
                    asking.sendto(request(5, rsalt=salt, key=KEY, time=time.time()), self.daemon.peer)
                answers = [envelope_of(asking.recv(65535)) for _ in salts]  # each, without asking again
                self.assertEqual({answer.salt for answer in answers}, salts)
                serials += [json.loads(answer.msg)["serial"] for answer in answers]
                number += 16
                if changes < 4 and serials[-1] == 100 + changes:
                    changes += 1
                    self.daemon.put(large(100 + changes))
        self.assertEqual(serials, sorted(serials))
        self.assertEqual(set(serials), {100, 101, 102, 103, 104})

    def test_broken(self) -> None:
        """A configuration that cannot be read is told in the log and leaves the one of before."""
        self.daemon.start()
        self.daemon.paths.config_file.write_bytes(b'{"version": ')
        key = Key(b"new\n")
        self.daemon.paths.hmac_key.write_bytes(b"new\n")
        self.assertEqual(BlockingClient(key, [self.daemon.peer]).ask(questions.config_serial()).value, 42)
        self.daemon.put(replace(CONFIG, serial_no=43))
        deadline = time.monotonic() + LIMIT
        value = 42
        while value != 43 and time.monotonic() < deadline:
            value = BlockingClient(key, [self.daemon.peer]).ask(questions.config_serial()).value
        self.assertEqual(value, 43)
        self.assertIn("the configuration of before is kept", self.daemon.stop())


def large(serial: int) -> ConfigData:
    """A configuration with many instances."""
    instances = {
        f"inst{number}": replace(samples.INSTANCE, uuid=f"inst{number}", name=f"web{number}.example.com", disks=())
        for number in range(1500)
    }
    return replace(CONFIG, cluster=replace(CLUSTER, serial_no=serial), instances=instances, disks={})
