"""gnt-node restricted-command, on a cluster in this process."""

from ganeti_tx.runtime.process import ProcessResult
from ganeti_tx.test.inprocess.case import ClusterCase
from ganeti_tx.test.inprocess.disk import put

RULE = "-" * 48
#: What a node without the program says of it.
NOWHERE = "Executing command 'report' failed; the log of the node daemon there has the reason"


class RestrictedCommandTests(ClusterCase):
    """node1 and node2 have the program, node3 has no directory for such."""

    def setUp(self) -> None:
        super().setUp()
        for number in (1, 2):
            node = self.cluster.node(number)
            self.path = node.paths.restricted_commands_dir / "report"
            put(node.disk, self.path, b"#!/bin/sh\n", 0o755)
            node.disk.set_mode(self.path.parent, 0o755)
            node.scripts.script([str(self.path)], ProcessResult(stdout=f"one\n{number}\n".encode()))

    def output(self, line: str, status: int) -> str:
        """What a command prints, and how it ends."""
        ended, out, err = self.scene().run(line.split())
        self.assertEqual((ended, err), (status, ""))
        return out

    def test_run(self) -> None:
        """What each says is printed in the order of the names."""
        out = self.output("gnt-node restricted-command report node2 node1", 0)
        self.assertEqual(out, f"{RULE}\none\n2\n{RULE}\none\n1\n")
        out = self.output("gnt-node restricted-command -M --sync report node1 node1", 0)
        self.assertEqual(out, f"{RULE}\nnode1.example.com: one\nnode1.example.com: 1\n")

    def test_failed(self) -> None:
        """Where it fails is told, the others have run it; of an offline node, that nothing was sent."""
        self.ok("gnt-node modify --offline=yes --auto-promote node2")
        node = self.cluster.node(1)
        node.scripts.script([str(self.path)], ProcessResult(status=4, stderr=b"broken\n"))
        out = self.output("gnt-node restricted-command -g default report", 1)
        told = [
            "Command 'report' exited with status 4; output: broken",
            "node node2.example.com is marked offline; restricted_command was not sent",
            NOWHERE,
        ]
        lines = [
            f"{RULE}\nCommand 'report' on node 'node{number}.example.com' failed: {text}\n"
            for number, text in enumerate(told, 1)
        ]
        self.assertEqual(out, "".join(lines))

    def test_refused(self) -> None:
        """What cannot be asked for."""
        for line, reason in (
            ("report", r"give names of nodes, or a node group \(-g\), but not both"),
            ("-g default report node1", "but not both"),
            ("report nosuch", "Node name nosuch not found"),
            ("-g nosuch report", "Node group name nosuch not found"),
            ("", "got 0 arguments"),
        ):
            self.fails(f"gnt-node restricted-command {line}", reason)
        self.ok("gnt-group add empty")
        self.fails("gnt-node restricted-command -g empty report", "Node group empty has no nodes")

    def test_locks(self) -> None:
        """With --sync the nodes are the job's alone meanwhile, otherwise it waits for nobody."""
        self.scene().submit("gnt-debug delay --submit -n node2 30")
        self.cluster.pass_time(1)
        self.output("gnt-node restricted-command report node2", 0)
        before = self.cluster.time.seconds()
        self.output("gnt-node restricted-command --sync report node2", 0)
        self.assertGreater(self.cluster.time.seconds() - before, 25)
