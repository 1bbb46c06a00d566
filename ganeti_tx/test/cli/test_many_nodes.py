"""Tests of gnt-cluster command and copyfile, search-tags and show-ispecs-cmd."""

import os
from pathlib import Path

import msgspec
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.cluster.nodes import TAKE
from ganeti_tx.cli.programs import capture_program, run_program
from ganeti_tx.model.params.ipolicy import InstancePolicy
from ganeti_tx.test.cli.fakes import CommandLine, answer_of

RULE = "-" * 48
FIELDS = [(name, "text", name) for name in ("name", "group", "offline", "master", "ndp/ssh_port", "sip")]
ROWS = [
    ["node1.example.com", "default", False, True, 22, "198.51.100.1"],
    ["node2.example.com", "default", False, False, 2222, "198.51.100.2"],
    ["node3.example.com", "other", False, False, 22, "198.51.100.3"],
    ["node4.example.com", "other", True, False, 22, "198.51.100.4"],
]
SKIPPED = "Note: skipping offline node(s): node4.example.com\n"


class ManyNodesCase(SynchronousTestCase):
    """A cluster of four nodes, the last of which is offline, seen from the master."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.answers["Query"] = self.rows

    def rows(self, kind: str, fields: list[str], filter: object) -> object:
        """Nodes; of groups there is only the one named other."""
        if kind == "group":
            columns = ("name", "text", "Name"), ("node_list", "other", "NodeList")
            return answer_of(*columns, rows=[["other", []]] if "other" in str(filter) else [])
        return answer_of(*FIELDS, rows=ROWS)


class CommandTests(ManyNodesCase):
    """gnt-cluster command."""

    def setUp(self) -> None:
        super().setUp()
        self.cli.answer = lambda argv: (3, "out\nerr\n") if "2222" in " ".join(argv) else (0, "")

    def test_all(self) -> None:
        """As Ganeti prints it; the master comes last, and does it itself."""
        outcome = self.cli("gnt-cluster", "command", "echo out; echo err >&2;", "exit 3")
        self.assertEqual((outcome.status, outcome.err), (0, SKIPPED))
        second = [RULE, "node: node2.example.com", "out", "err", "", "return code = 3"]
        third = [RULE, "node: node3.example.com", "", "return code = 0"]
        first = [RULE, "node: node1.example.com", "", "return code = 0"]
        self.assertEqual(outcome.out.splitlines(), [*second, *third, *first])
        text = "echo out; echo err >&2; exit 3"
        self.assertEqual(self.cli.captured[-1], ["sh", "-c", text])
        self.assertEqual(self.cli.captured[0][0], "ssh")
        self.assertIn("-oStrictHostKeyChecking=yes", self.cli.captured[0])
        self.assertEqual(self.cli.captured[0][-3:], ["root@node2.example.com", "--", f"sh -c '{text}'"])

    def test_named_lines(self) -> None:
        """With the node's name before each line, and only where the command failed."""
        outcome = self.cli("gnt-cluster", "command", "-M", "--failure-only", "-n", "node2", "-n", "node1", "x")
        lines = [RULE, "node2.example.com: out", "node2.example.com: err", "return code = 3"]
        self.assertEqual(outcome.out.splitlines(), lines)
        self.assertEqual(outcome.err, "")

    def test_group(self) -> None:
        """The nodes of one group, those that are offline not."""
        outcome = self.cli("gnt-cluster", "command", "-g", "other", "x")
        self.assertEqual([line for line in outcome.out.splitlines() if "node" in line], ["node: node3.example.com"])

    def test_refused(self) -> None:
        """Nothing runs when a node or group is not there."""
        for words, text in (
            (("-n", "nosuch", "x"), "Node name nosuch not found"),
            (("-n", "nod", "x"), "Node name nod not found"),
            (("-g", "nosuch", "x"), "Node group name nosuch not found"),
            ((), "got 0 arguments"),
        ):
            outcome = self.cli("gnt-cluster", "command", *words)
            self.assertEqual((outcome.status, self.cli.captured), (1, []))
            self.assertIn(text, outcome.err)


class CopyfileTests(ManyNodesCase):
    """gnt-cluster copyfile."""

    def setUp(self) -> None:
        super().setUp()
        self.cli.answer = lambda argv: (0, "regular file|640|1700000000\n")

    def test_all(self) -> None:
        """The file goes to all other nodes; each gets it as a whole, with mode and time."""
        outcome = self.cli("gnt-cluster", "copyfile", "/root/copy me")
        self.assertEqual((outcome.status, outcome.out, outcome.err), (0, "", SKIPPED))
        argvs = [argv for argv, _document in self.cli.programs]
        self.assertEqual([argv[-3] for argv in argvs], ["root@node2.example.com", "root@node3.example.com"])
        self.assertEqual(argvs[0][:4], ["sh", "-c", "exec \"$@\" < '/root/copy me'", "copyfile"])
        self.assertTrue(argvs[0][-1].endswith("copyfile '/root/copy me' 640 1700000000"))

    def test_other_network(self) -> None:
        """The other address is used; whose key must be there does not change."""
        self.cli("gnt-cluster", "copyfile", "--use-replication-network", "-n", "node2", "/root/x")
        ((argv, _document),) = self.cli.programs
        self.assertIn("root@198.51.100.2", argv)
        self.assertIn("-oHostKeyAlias=node2.example.com", argv)

    def test_failure(self) -> None:
        """Each node that does not have it is told of."""
        self.cli.program_status = 255
        outcome = self.cli("gnt-cluster", "copyfile", "-n", "node2", "/root/x")
        self.assertEqual(outcome.status, 1)
        self.assertEqual(outcome.err, "Copy of file /root/x to node node2.example.com:2222 failed\n")

    def test_refused(self) -> None:
        """What is no file, or not there, goes nowhere."""
        self.cli.answer = lambda argv: (0, "directory|755|1\n")
        self.assertIn("'/root' is no file but a directory", self.cli("gnt-cluster", "copyfile", "/root").err)
        self.cli.answer = lambda argv: (1, "stat: cannot")
        self.assertIn("No such filename '/root/x'", self.cli("gnt-cluster", "copyfile", "/root/x").err)
        self.assertEqual(self.cli.programs, [])

    def test_taken(self) -> None:
        """What runs on the other node puts the file in place of another one, or leaves that one alone."""
        directory = Path(os.path.abspath(self.mktemp()))
        directory.mkdir()
        source, target = directory / "a source", directory / "it's"
        source.write_bytes(b"new\0")
        target.write_bytes(b"old")
        take = ["sh", "-c", f"exec \"$@\" < '{source}'", "x", "sh", "-c", TAKE, "x"]
        self.assertEqual(run_program([*take, str(target), "640", "1700000000"], None), 0)
        self.assertEqual((target.read_bytes(), target.stat().st_mode & 0o777), (b"new\0", 0o640))
        self.assertEqual(target.stat().st_mtime, 1700000000)
        target.write_bytes(b"old")
        self.assertEqual(capture_program([*take, str(target), "wild", "1700000000"])[0], 1)
        self.assertEqual((target.read_bytes(), len(list(directory.iterdir()))), (b"old", 2))


class FactsTests(ManyNodesCase):
    """Commands that only show."""

    def test_search_tags(self) -> None:
        """Sorted by object; nothing found is a failure without a word."""
        self.cli.client.results["OP_TAGS_SEARCH"] = [["/nodes/b", "x"], ["/cluster", "y"]]
        outcome = self.cli("gnt-cluster", "search-tags", "^[xy]")
        self.assertEqual((outcome.status, outcome.out), (0, "/cluster y\n/nodes/b x\n"))
        self.cli.client.results["OP_TAGS_SEARCH"] = []
        self.assertEqual(self.cli("gnt-cluster", "search-tags", "nosuch"), (1, "", ""))
        self.assertEqual(self.cli("gnt-cluster", "search-tags").status, 1)

    def test_show_ispecs(self) -> None:
        """As Ganeti prints it of a new cluster; several bounds stand between double slashes, and init takes it."""
        policy = msgspec.to_builtins(InstancePolicy())
        policy["minmax"][0]["min"].update({"disk-count": 0, "disk-size": 4, "memory-size": 4, "nic-count": 0})
        policy["minmax"][0]["max"].update(
            {
                "cpu-count": 8,
                "disk-count": 8,
                "disk-size": 102400,
                "memory-size": 16384,
                "nic-count": 4,
                "spindle-use": 8,
            }
        )
        self.cli.client.answers["QueryClusterInfo"] = lambda: {"ipolicy": policy, "name": "cluster.qa.test"}
        said = self.cli("gnt-cluster", "show-ispecs-cmd").out
        self.assertEqual(said, NEW_CLUSTER)
        policy["minmax"] = [*policy["minmax"], *policy["minmax"]]
        said = self.cli("gnt-cluster", "show-ispecs-cmd").out
        self.assertEqual(said.count("min:"), 2)
        self.assertEqual(self.cli(*said.split()).status, 0)
        ((_argv, document),) = self.cli.programs
        assert document is not None
        self.assertEqual(msgspec.json.decode(document)["ipolicy"]["minmax"], policy["minmax"])


NEW_CLUSTER = (
    "gnt-cluster init --ipolicy-std-specs cpu-count=1,disk-count=1,disk-size=1024,memory-size=128,nic-count=1,"
    "spindle-use=1 --ipolicy-bounds-specs min:cpu-count=1,disk-count=0,disk-size=4,memory-size=4,nic-count=0,"
    "spindle-use=1/max:cpu-count=8,disk-count=8,disk-size=102400,memory-size=16384,nic-count=4,spindle-use=8 "
    "cluster.qa.test\n"
)
