"""Tests of where names come from while somebody types."""

import json
import socket
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.completion.names import ClusterNames
from ganeti_tx.cli.completion.offer import Candidate
from ganeti_tx.cli.progress import GOES_ON
from ganeti_tx.cli.session import SOCKET

MARK = b"\x03"


class NamesCase(SynchronousTestCase):
    """A node below a directory of its own."""

    def setUp(self) -> None:
        short = tempfile.TemporaryDirectory()  # the path of a socket must be
        self.addCleanup(short.cleanup)
        self.root = Path(short.name)
        self.names = ClusterNames({"GANETI_ROOTDIR": str(self.root)})

    def write(self, path: str, text: str) -> None:
        """A file of the node."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)


class FileTests(NamesCase):
    """What the node itself keeps."""

    def test_simple_configuration(self) -> None:
        """Names of instances, nodes, groups and networks."""
        for name, text in (
            ("instance_list", "web1.example\nweb2.example\n"),
            ("node_list", "node1.example\n"),
            ("nodegroups", "a-uuid default\nb-uuid two words\n"),
            ("networks", "damaged\n"),
        ):
            self.write(f"var/lib/ganeti/ssconf_{name}", text)
        found = {
            kind: [each.word for each in self.names.of_kind(kind)] for kind in ("instance", "node", "group", "network")
        }
        self.assertEqual(
            found,
            {
                "instance": ["web1.example", "web2.example"],
                "node": ["node1.example"],
                "group": ["default", "two words"],
                "network": [],
            },
        )

    def test_definitions(self) -> None:
        """Operating systems with their variants, those without by their name; other directories are none."""
        self.write("srv/ganeti/os/debootstrap/ganeti_api_version", "20\n")
        self.write("srv/ganeti/os/debootstrap/variants.list", "default\n#no\nsmall\n")
        self.write("usr/share/ganeti/os/noop/ganeti_api_version", "20\n")
        self.write("usr/share/ganeti/os/lost/create", "")
        self.assertEqual(
            [each.word for each in self.names.of_kind("os")], ["debootstrap+default", "debootstrap+small", "noop"]
        )


class MasterTests(NamesCase):
    """What the master is asked."""

    def serve(self, answers: Mapping[str, Any] | None) -> list[Any]:
        """Answer a connection's calls; without answers be silent. What was asked is in the list that is given."""
        path = self.root / SOCKET.lstrip("/")
        path.parent.mkdir(parents=True)
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(str(path))
        listening.listen()
        asked: list[Any] = []
        if answers is not None:
            thread = threading.Thread(target=answer_one, args=(listening, answers, asked), daemon=True)
            thread.start()
            self.addCleanup(thread.join, 5)
        return asked

    def test_answers(self) -> None:
        """Jobs with what they are about, those that go on when only these are meant."""
        rows = [[[0, 7], [0, "running"], [0, ["INSTANCE_STARTUP(web1)"]]]]
        asked = self.serve({"Query": {"fields": [], "data": rows}})
        self.assertEqual(self.names.of_kind("running"), [Candidate("7", "running INSTANCE_STARTUP(web1)")])
        self.assertEqual(asked, [["Query", ["job", ["id", "status", "summary"], GOES_ON]]])

    def test_tags(self) -> None:
        """Those of one object."""
        asked = self.serve({"QueryTags": ["a", "b"]})
        self.assertEqual([each.word for each in self.names.tags("instance", "web1")], ["a", "b"])
        self.assertEqual(asked, [["QueryTags", ["instance", "web1"]]])

    def test_fields(self) -> None:
        """With what they are."""
        self.serve({"QueryFields": {"fields": [{"name": "name", "doc": "Its name", "kind": "text", "title": "Name"}]}})
        self.assertEqual(self.names.fields("node"), [Candidate("name", "Its name")])

    def test_silent(self) -> None:
        """A master that takes the call and says nothing is not waited for long; there are no names then."""
        self.serve(None)
        self.assertEqual(self.names.of_kind("job"), [])

    def test_nobody(self) -> None:
        """Nor are there where no master is, whatever is asked."""
        self.assertEqual([self.names.of_kind(kind) for kind in ("job", "filter", "instance", "os")], [[], [], [], []])
        self.assertEqual((self.names.fields("node"), self.names.tags("node", "a")), ([], []))


def answer_one(listening: socket.socket, answers: Mapping[str, Any], asked: list[Any]) -> None:
    """One call of one connection."""
    connection, _ = listening.accept()
    with connection:
        data = b""
        while MARK not in data:
            data += connection.recv(65536)
        request = json.loads(data.split(MARK)[0])
        asked.append([request["method"], request["args"]])
        answer = {"success": True, "result": answers[request["method"]], "version": request["version"]}
        connection.sendall(json.dumps(answer).encode() + MARK)
