"""Listening on unix sockets."""

import socket
import stat
from pathlib import Path
from tempfile import mkdtemp

from twisted.internet import reactor
from twisted.internet.defer import maybeDeferred
from twisted.internet.protocol import Factory, Protocol
from twisted.trial.unittest import TestCase

from ganeti_tx.errors import GenericError
from ganeti_tx.runtime.sockets import listen_unix


class ListenTests(TestCase):
    """What stands at the path decides."""

    def setUp(self) -> None:
        """A short path, as unix sockets need."""
        directory = Path(mkdtemp())
        self.path = directory / "socket"
        self.addCleanup(directory.rmdir)
        self.addCleanup(self.path.unlink, missing_ok=True)

    def listen(self) -> None:
        """Listen until the end of the test."""
        port = listen_unix(reactor, self.path, Factory.forProtocol(Protocol), 0o600)  # type: ignore[arg-type]
        self.addCleanup(lambda: maybeDeferred(port.stopListening))

    def test_free(self) -> None:
        """A free path gets a socket with the mode asked for."""
        self.listen()
        self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)

    def test_dead(self) -> None:
        """A socket nobody listens on is replaced."""
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(self.path))
        self.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.path))

    def test_alive(self) -> None:
        """A socket somebody listens on is left alone."""
        with socket.socket(socket.AF_UNIX) as alive:
            alive.bind(str(self.path))
            alive.listen()
            self.assertIn("another process answers", str(self.assertRaises(GenericError, self.listen)))
            self.assertTrue(self.path.exists())

    def test_no_socket(self) -> None:
        """A file is never removed to listen in its place."""
        self.path.write_text("precious")
        self.assertIn("not a socket", str(self.assertRaises(GenericError, self.listen)))
        self.assertEqual(self.path.read_text(), "precious")
