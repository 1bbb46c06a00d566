"""Tests of the commands of gnt-node, of the tags of all nouns, and of gnt-os."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.errors import ECode, JobCanceled, LuxiError, OpExecError, OpPrereqError
from ganeti_tx.test.cli.fakes import STAMP, CommandLine, Terminal, answer_of

#: As Ganeti asks it.
BACK_ONLINE = """\
You are setting this node online manually. If the configuration has
changed, this can cause issues such as split brain. To safely bring a
node back online, please use --readd instead. If you are confident
that the configuration hasn't changed, continue?
y/[n]/?: """


class SettingUp(CommandLine):
    """Once the node is set up, the job that adds it ends with `error`."""

    error: Exception | None = None

    def _run(self, argv: Sequence[str], document: bytes | None) -> int:
        if argv[-1] == "node-join" and self.error is not None:
            self.client.results["OP_NODE_ADD"] = self.error
        return super()._run(argv, document)


class AddTests(SynchronousTestCase):
    """gnt-node add and remove."""

    def setUp(self) -> None:
        self.cli = SettingUp()
        self.cli.client.answers["CancelJob"] = lambda job_id, kill: [False, "it has ended"]

    def steps(self) -> list[str]:
        """What ganeti-bootstrap was asked for."""
        return [argv[-1] for argv, _document in self.cli.programs]

    def test_add(self) -> None:
        """The node is set up when the opcode's own checks allow it, and then added; options reach all three."""
        outcome = self.cli(
            "gnt-node", "add", "-s", "192.0.2.2", "-g", "rack1", "--master-capable", "no", "--node-parameters", "ssh_port=22",
            "--no-ssh-key-check", "node2",
        )  # fmt: skip
        self.assertEqual(outcome, (0, "", ""))
        ((argv, document),) = self.cli.programs
        self.assertEqual(argv[-1], "node-join")
        self.assertEqual(
            json.loads(document or b""),
            {
                "node_name": "node2", "secondary_ip": "192.0.2.2", "ssh_port": 22, "readd": False,
                "ssh_key_check": False, "force_join": False,
            },
        )  # fmt: skip
        op = {
            "OP_ID": "OP_NODE_ADD", "node_name": "node2", "node_setup": True, "secondary_ip": "192.0.2.2",
            "group": "rack1", "master_capable": False, "ndparams": {"ssh_port": 22},
        }  # fmt: skip
        self.assertEqual(self.cli.client.submitted, [{**op, "dry_run": True}, op])

    def test_check_is_not_told(self) -> None:
        """The operator reads what the adding says, not that it was tried before without doing it."""
        self.cli.client.log = [[1, STAMP, "message", "Node node2 will be a master candidate"]]
        outcome = self.cli("gnt-node", "add", "node2")
        self.assertEqual(outcome.out.count("will be a master candidate"), 1)

    def test_setup_fails(self) -> None:
        """A node that could not be set up is not added."""
        self.cli.program_status = 3
        self.assertEqual(self.cli("gnt-node", "add", "node2").status, 3)
        self.assertEqual([op.get("dry_run") for op in self.cli.client.submitted], [True])

    def test_checked_first(self) -> None:
        """A node that cannot be added is not touched."""
        self.cli.client.results["OP_NODE_ADD"] = OpPrereqError("no such group", ECode.NOENT)
        outcome = self.cli("gnt-node", "add", "-g", "ghost", "node2")
        self.assertEqual((outcome.status, self.cli.programs), (1, []))
        self.assertIn("no such group", outcome.err)

    def test_taken_back(self) -> None:
        """What was done to a node that is not added after all is taken back, with the same way to it."""
        self.cli.error = OpExecError("the disk is full")
        outcome = self.cli("gnt-node", "add", "node2")
        self.assertEqual((outcome.status, self.steps()), (1, ["node-join", "node-unjoin"]))
        self.assertIn("the disk is full", outcome.err)
        self.assertEqual(self.cli.programs[0][1], self.cli.programs[1][1])
        self.assertEqual(self.cli.client.sent("CancelJob"), [[2, False]])

    def test_nobody_knows(self) -> None:
        """While the master daemon does not tell what became of the job, the node stays as it is."""
        self.cli.error = OpExecError("broken")

        def gone(job_id: int, kill: bool) -> None:
            raise LuxiError("no answer")

        self.cli.client.answers["CancelJob"] = gone
        outcome = self.cli("gnt-node", "add", "node2")
        self.assertEqual(self.steps(), ["node-join"])
        self.assertIn("stays set up: no answer", outcome.err)

    def test_interrupted(self) -> None:
        """The job is cancelled, and the node taken back when it has come to nothing; nobody is told that it goes on."""
        asked: list[int] = []

        def wait(job_id: int, *rest: Any) -> Any:
            asked.append(job_id)
            if asked.count(2) == 1:
                raise KeyboardInterrupt
            return [[self.cli.client._status(job_id)], []]

        self.cli.error = JobCanceled("stopped")
        self.cli.client.answers["WaitForJobChange"] = wait
        outcome = self.cli("gnt-node", "add", "node2")
        self.assertEqual(self.steps(), ["node-join", "node-unjoin"])
        self.assertEqual(self.cli.client.sent("CancelJob"), [[2, False]])
        self.assertIn("interrupted, so the node was not added", outcome.err)
        self.assertNotIn("keeps running", outcome.err)

    def test_readd(self) -> None:
        """Adding again is said to all."""
        self.assertEqual(self.cli("gnt-node", "add", "--readd", "node2").status, 0)
        self.assertEqual([op["readd"] for op in self.cli.client.submitted], [True, True])
        self.assertTrue(json.loads(self.cli.programs[0][1] or b"")["readd"])

    def test_remove(self) -> None:
        """remove submits one opcode."""
        self.assertEqual(self.cli("gnt-node", "remove", "node2"), (0, "", ""))
        self.assertEqual(self.cli.client.submitted, [{"OP_ID": "OP_NODE_REMOVE", "node_name": "node2"}])

    def test_info(self) -> None:
        """All about a node, with where its parameters come from."""
        values = {
            "name": "node1", "pip": "192.0.2.1", "sip": "192.0.2.1", "pinst_list": ["web2", "web1"], "sinst_list": [],
            "master_candidate": True, "drained": False, "offline": False, "master_capable": True, "vm_capable": True,
            "powered": None, "ndparams": {"ssh_port": 22, "ovs": False}, "custom_ndparams": {"ssh_port": 22},
        }  # fmt: skip
        self.cli.client.answers["Query"] = lambda noun, fields, chosen: answer_of(
            *((field, "other", field) for field in fields), rows=[[values[field] for field in fields]]
        )
        self.assertEqual(self.cli("gnt-node", "info", "node1"), (0, NODE_INFO.replace("~", " "), ""))


NODE_INFO = """\
- Node name: node1
  primary ip: 192.0.2.1
  secondary ip: 192.0.2.1
  master candidate: True
  drained: False
  offline: False
  master_capable: True
  vm_capable: True
  primary for instances:~
    - web1
    - web2
  secondary for instances:~
  node parameters:~
    ovs: default (False)
    ssh_port: 22
"""


class TagTests(SynchronousTestCase):
    """Tags of the cluster, of nodes and of instances."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def test_list(self) -> None:
        """Tags are sorted, one a line; the program tells the kind."""
        self.cli.client.answers["QueryTags"] = lambda kind, name: ["b", "a"]
        self.assertEqual(self.cli("gnt-cluster", "list-tags").out, "a\nb\n")
        self.cli("gnt-node", "list-tags", "node1")
        self.cli("gnt-instance", "list-tags", "web1")
        self.assertEqual(self.cli.client.sent("QueryTags"), [["cluster", ""], ["node", "node1"], ["instance", "web1"]])

    def test_change(self) -> None:
        """Tags are added and removed by name."""
        self.cli("gnt-cluster", "add-tags", "a", "b")
        self.cli("gnt-instance", "remove-tags", "web1", "a")
        self.assertEqual(
            self.cli.client.submitted,
            [
                {"OP_ID": "OP_TAGS_SET", "kind": "cluster", "tags": ["a", "b"]},
                {"OP_ID": "OP_TAGS_DEL", "kind": "instance", "name": "web1", "tags": ["a"]},
            ],
        )

    def test_dashes(self) -> None:
        """A tag may start with a dash, once the name stands before it."""
        self.cli("gnt-node", "add-tags", "node1", "-x")
        self.assertEqual(self.cli.client.submitted[0]["tags"], ["-x"])

    def test_from_file(self) -> None:
        """More tags may stand in a file or on standard input, one a line."""
        path = Path(self.mktemp())
        path.write_text("c\n\n d \n")
        self.cli("gnt-node", "add-tags", "--from", str(path), "node1", "a")
        self.cli("gnt-node", "add-tags", "--from", "-", "node1", stdin=io.StringIO("e\n"))
        self.assertEqual([op["tags"] for op in self.cli.client.submitted], [["a", "c", "d"], ["e"]])

    def test_refused(self) -> None:
        """No tags at all, and a file that is not there or no text, are errors."""
        binary = Path(self.mktemp())
        binary.write_bytes(b"\xff\xfe")
        for words, text in (
            ((), "No tags to be added"),
            (("--from", "/no/such"), "/no/such"),
            (("--from", str(binary)), "UTF-8"),
        ):
            outcome = self.cli("gnt-node", "add-tags", *words, "node1")
            self.assertEqual((outcome.status, self.cli.client.jobs), (1, {}))
            self.assertIn(text, outcome.err)


class ModifyTests(SynchronousTestCase):
    """gnt-node modify."""

    def setUp(self) -> None:
        self.cli = CommandLine()

    def test_modify(self) -> None:
        """Every option reaches the opcode; what is new is shown."""
        self.cli.client.results["OP_NODE_SET_PARAMS"] = [["master_candidate", "False"], ["offline", "True"]]
        outcome = self.cli(
            "gnt-node", "modify", "-O", "yes", "-C", "no", "-D", "no", "--auto-promote", "-f", "--node-powered", "no",
            "--node-parameters", "ssh_port=23", "-s", "192.0.2.9", "node2",
        )  # fmt: skip
        text = "Modified node node2\n - master_candidate -> False\n - offline -> True\n"
        self.assertEqual(outcome, (0, text, ""))
        self.assertEqual(
            self.cli.client.submitted,
            [
                {
                    "OP_ID": "OP_NODE_SET_PARAMS", "node_name": "node2", "offline": True, "master_candidate": False,
                    "drained": False, "auto_promote": True, "force": True, "powered": False,
                    "ndparams": {"ssh_port": 23}, "secondary_ip": "192.0.2.9",
                }
            ],
        )  # fmt: skip

    def test_back_online(self) -> None:
        """Who sits there is asked about a node that is offline, not if it is forced; programs are not asked."""
        rows = [["node2.example.com", True], ["node3.example.com", False]]
        self.cli.client.answers["Query"] = lambda *_: answer_of(
            ("name", "text", "Node"), ("offline", "bool", "Offline"), rows=rows
        )
        outcome = self.cli("gnt-node", "modify", "-O", "no", "node2", stdin=Terminal("n\n"))
        self.assertEqual((outcome.status, self.cli.client.submitted), (1, []))
        self.assertTrue(outcome.err.startswith(BACK_ONLINE), outcome.err)
        for words, stdin in (
            (("node2",), Terminal("y\n")),
            (("node3",), Terminal("")),
            (("-f", "node2"), Terminal("")),
            (("node2",), io.StringIO("")),
        ):
            outcome = self.cli("gnt-node", "modify", "-O", "no", *words, stdin=stdin)
            self.assertEqual(outcome.status, 0, words)
        self.assertEqual(len(self.cli.client.submitted), 4)

    def test_nothing(self) -> None:
        """Without a change there is no job."""
        outcome = self.cli("gnt-node", "modify", "node2")
        self.assertEqual((outcome.status, self.cli.client.submitted), (1, []))
        self.assertIn("nothing to change", outcome.err)
