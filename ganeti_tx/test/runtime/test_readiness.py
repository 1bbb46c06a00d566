"""What a daemon tells who started it: a command on a pipe, systemd on a datagram socket."""

import os
import secrets
import socket
from pathlib import Path
from tempfile import mkdtemp

from twisted.python.filepath import FilePath
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ExitCode
from ganeti_tx.runtime.readiness import SOCKET_VARIABLE, VARIABLE, Starter, heard


class StarterTests(SynchronousTestCase):
    """A daemon with both listening."""

    def listen(self, address: str | bytes) -> socket.socket:
        """Take what comes for systemd."""
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(listening.close)
        listening.settimeout(10)
        listening.bind(address)
        return listening

    def starter(self, address: str) -> Starter:
        """The environment keeps nothing that a child could use."""
        environ = {SOCKET_VARIABLE: address, "LANG": "C"}
        starter = Starter(environ)
        self.assertEqual(environ, {"LANG": "C"})
        return starter

    def path(self) -> str:
        """A place for a socket, whose name may not be long."""
        directory = mkdtemp(prefix="notify")
        self.addCleanup(FilePath(directory).remove)
        return str(Path(directory) / "s")

    def test_ready(self) -> None:
        """Both hear of it, the command once."""
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        path = self.path()
        listening = self.listen(path)
        starter = Starter({SOCKET_VARIABLE: path, VARIABLE: str(writing)})
        starter.ready()
        self.assertEqual((heard(reading, 10), listening.recv(99)), ("ready", b"READY=1\nSTATUS="))
        starter.ends("node2 is the master")
        self.assertEqual(listening.recv(99), b"STOPPING=1\nSTATUS=fatal: node2 is the master")

    def test_abstract(self) -> None:
        """The socket may have no place in the file system."""
        name = f"ganeti-tx-{secrets.token_hex(8)}"
        listening = self.listen(b"\0" + name.encode())
        self.starter(f"@{name}").ready()
        self.assertTrue(listening.recv(99).startswith(b"READY=1"))

    def test_failed(self) -> None:
        """A failure is told with its reason; nothing to do here counts as having been up, which is no failure."""
        path = self.path()
        listening = self.listen(path)
        self.starter(path).failed(ExitCode.FAILURE, "port in use")
        self.assertEqual(listening.recv(99), b"STATUS=fatal: port in use")
        self.starter(path).failed(ExitCode.NOTMASTER, "node2 is the master")
        self.assertEqual([listening.recv(99), listening.recv(99)], [b"STATUS=fatal: node2 is the master", b"READY=1"])

    def test_nobody(self) -> None:
        """Where nobody listens, or did once, nothing happens."""
        Starter({}).ready()
        self.starter(self.path()).ready()
        self.starter("vsock:2:1").ends()
