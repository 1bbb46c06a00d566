"""Tests of the commands as processes: what they load, and a whole run against a socket."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.cli.fakes import answer_of

_LIMIT = 60
_HEAVY = {
    "twisted",
    "msgspec",
    "attr",
    "asyncio",
    "subprocess",
    "pathlib",
    "ganeti_tx.model.base",
    "zope",
    "ganeti_tx.cli.instance.add",
    "ganeti_tx.cli.colours",
    "ganeti_tx.cli.documents",
    "ganeti_tx.cli.records",
    "ganeti_tx.cli.tree_values",
    "ganeti_tx.cli.watch",
    "csv",
}


def run_python(code: str, *words: str, **environ: str) -> "subprocess.CompletedProcess[bytes]":
    """Run code in an interpreter of its own that finds what this one finds."""
    path = os.pathsep.join(entry for entry in sys.path if entry)
    argv = [sys.executable, "-c", code, *words]
    return subprocess.run(argv, capture_output=True, env={"PYTHONPATH": path, **environ}, timeout=_LIMIT, check=False)


class StartTests(SynchronousTestCase):
    """Commands as operators start them."""

    def test_imports(self) -> None:
        """A list loads nothing that costs more time than the list: no Twisted, no msgspec, no other command."""
        lists = [f"gnt-{noun}" for noun in ("group", "instance", "job", "network", "node", "os")]
        code = (
            "import sys; from ganeti_tx.cli.main import program_named; from ganeti_tx.cli.program import load\n"
            f"for name in {lists!r}: load(program_named(name).commands['list'])\n"
            f"heavy = {_HEAVY!r} & set(sys.modules); sys.exit(repr(heavy) if heavy else 0)"
        )
        outcome = run_python(code)
        self.assertEqual((outcome.returncode, outcome.stderr), (0, b""))

    def test_declarations(self) -> None:
        """Commands that need the declarations of settings load those, and nothing that is for daemons."""
        heavy = _HEAVY - {"msgspec", "pathlib", "ganeti_tx.model.base"} | {
            "ganeti_tx.model.opcodes",
            "ganeti_tx.model.settings.rules",
        }
        for command in ("info", "modify"):
            code = (
                "import sys; from ganeti_tx.cli.main import program_named; from ganeti_tx.cli.program import load;"
                f"load(program_named('gnt-cluster').commands[{command!r}]);"
                f"heavy = {heavy!r} & set(sys.modules); sys.exit(repr(heavy) if heavy else 0)"
            )
            outcome = run_python(code)
            self.assertEqual((outcome.returncode, outcome.stderr), (0, b""), command)

    def listing(self, name: str) -> "tuple[subprocess.CompletedProcess[bytes], list[dict[str, object]]]":
        """gnt-instance list against a master that knows one instance; the outcome, and what was asked."""
        with tempfile.TemporaryDirectory() as root:
            directory = Path(root) / "var/run/ganeti/socket"
            directory.mkdir(parents=True)
            requests = serve_once(directory / "ganeti-query", answer_of(("name", "text", "Instance"), rows=[[name]]))
            code = "from ganeti_tx.cli.main import gnt_instance; raise SystemExit(gnt_instance())"
            outcome = run_python(code, "list", "-o", "name", GANETI_ROOTDIR=root, GANETI_HOSTNAME="node1")
        return outcome, requests

    def test_list(self) -> None:
        """gnt-instance list finds the socket below the node's root, asks, and prints the answer."""
        outcome, requests = self.listing("web1")
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, b"Instance\nweb1\n", b""))
        self.assertEqual(
            [(each["method"], each["args"]) for each in requests], [("Query", ["instance", ["name"], None])]
        )

    def test_odd_names(self) -> None:
        """A name that has no encoding is shown escaped, never with a traceback."""
        outcome, _requests = self.listing("web\udcff")
        self.assertEqual((outcome.returncode, outcome.stdout, outcome.stderr), (0, b"Instance\nweb\\udcff\n", b""))

    def test_terminal(self) -> None:
        """On a terminal the status of an instance has its colour."""
        leader, follower = os.openpty()
        self.addCleanup(os.close, leader)
        answer = answer_of(("name", "text", "Instance"), ("status", "text", "Status"), rows=[["web1", "running"]])
        code = "from ganeti_tx.cli.main import gnt_instance; raise SystemExit(gnt_instance())"
        path = os.pathsep.join(entry for entry in sys.path if entry)
        with tempfile.TemporaryDirectory() as root:
            directory = Path(root) / "var/run/ganeti/socket"
            directory.mkdir(parents=True)
            serve_once(directory / "ganeti-query", answer)
            environ = {"PYTHONPATH": path, "GANETI_ROOTDIR": root, "GANETI_HOSTNAME": "node1", "TERM": "xterm"}
            argv = [sys.executable, "-c", code, "list", "-o", "name,status"]
            done = subprocess.run(
                argv, stdout=follower, stderr=subprocess.PIPE, env=environ, timeout=_LIMIT, check=False
            )
        os.close(follower)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(os.read(leader, 4096), b"Instance Status\r\nweb1     \x1b[32mrunning\x1b[0m\r\n")

    def test_streams(self) -> None:
        """Where the result cannot go a closed stream is nothing to speak of, a full disk is one line; never a traceback."""
        code = "from ganeti_tx.cli.main import gnt_cluster; raise SystemExit(gnt_cluster())"
        with tempfile.TemporaryDirectory() as root:
            name = Path(root) / "var/lib/ganeti/ssconf_master_node"
            name.parent.mkdir(parents=True)
            name.write_text("node1\n")
            for words, stream, status, said in (
                ("getmaster", ">&-", 0, b""),
                ("getmaster", "<&-", 0, b""),
                ("getmaster", ">/dev/full", 1, b"No space left on device"),
                ("--help", ">/dev/full", 1, b"No space left on device"),
            ):
                start = (
                    f"import os, sys; os.execv('/bin/sh', ['sh', '-c', 'exec \"$0\" \"$@\" {stream}', *sys.argv[1:]])"
                )
                outcome = run_python(start, sys.executable, "-c", code, words, GANETI_ROOTDIR=root)
                self.assertEqual((outcome.returncode, outcome.stderr.count(b"\n")), (status, int(bool(said))), stream)
                self.assertIn(said, outcome.stderr)

    def test_programs(self) -> None:
        """Another program gets the document on its standard input, and its status comes back."""
        code = (
            "import sys; from ganeti_tx.cli.programs import run_program;"
            "argv = [sys.executable, '-c', 'import sys; sys.exit(len(sys.stdin.read()))'];"
            "sys.exit(run_program(argv, b'12345'))"
        )
        self.assertEqual(run_python(code).returncode, 5)


def serve_once(path: Path, result: object) -> "list[dict[str, object]]":
    """Answer the first request on a socket; the list fills with what was asked."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.settimeout(_LIMIT)
    listening.bind(str(path))
    listening.listen(1)
    requests: list[dict[str, object]] = []

    def serve() -> None:
        with listening, listening.accept()[0] as connection:
            received = b""
            while not received.endswith(b"\x03"):
                received += connection.recv(4096)
            requests.append(json.loads(received[:-1]))
            connection.sendall(json.dumps({"success": True, "result": result}).encode() + b"\x03")

    threading.Thread(target=serve, daemon=True).start()
    return requests
