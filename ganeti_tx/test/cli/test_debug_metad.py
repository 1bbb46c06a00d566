"""gnt-debug metad, beside a socket that answers, and without one."""

import json
import shutil
import socket
import tempfile
import threading
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.debug.metad import SOCKET
from ganeti_tx.luxi.framing import TERMINATOR
from ganeti_tx.test.cli.fakes import CommandLine


class MetadTests(SynchronousTestCase):
    """The client that users have, on a root of its own."""

    def setUp(self) -> None:
        root = Path(tempfile.mkdtemp())  # a socket's path may not be long
        self.addCleanup(shutil.rmtree, root)
        self.path = root / SOCKET.lstrip("/")
        self.path.parent.mkdir(parents=True)
        self.cli = CommandLine()
        self.cli.environ["GANETI_ROOTDIR"] = str(root)

    def answer(self, result: Any) -> list[Any]:
        """Have somebody answer one request; what is asked stands in the list in the end."""
        asked: list[Any] = []
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(str(self.path))
        listening.listen(1)

        def serve() -> None:
            with listening.accept()[0] as connection:
                asked.append(json.loads(connection.recv(4096).rstrip(TERMINATOR)))
                connection.sendall(json.dumps(result).encode() + TERMINATOR)

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join)
        return asked

    def test_echo(self) -> None:
        """The daemon gets the text, and what comes back is shown."""
        asked = self.answer({"success": True, "result": "hello you"})
        self.assertEqual(self.cli("gnt-debug", "metad", "echo", "hello you"), (0, "Answer: hello you\n", ""))
        self.assertEqual([(each["method"], each["args"]) for each in asked], [("Echo", ["hello you"])])

    def test_nobody(self) -> None:
        """One line says where nobody listens; an operator cannot start what the node daemon starts."""
        status, out, err = self.cli("gnt-debug", "metad", "echo", "hello")
        self.assertEqual((status, out), (1, ""))
        self.assertEqual(
            err,
            f"Failure: Cannot reach the metadata daemon (ganeti-metad) at {self.path}: it is not running on this node\n",
        )

    def test_unknown(self) -> None:
        """What can be asked is told."""
        self.assertEqual(
            self.cli("gnt-debug", "metad", "update"), (1, "", "Command 'update' not supported; supported: echo\n")
        )
        outcome = self.cli("gnt-debug", "metad", "echo")
        self.assertEqual((outcome.status, outcome.err), (1, "gnt-debug metad: echo takes 1 argument(s), got 0\n"))
