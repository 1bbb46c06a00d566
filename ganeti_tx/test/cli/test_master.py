"""gnt-cluster master-failover, master-ping, activate-master-ip and deactivate-master-ip."""

import io
import json
from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.bootstrap.failover import read_request
from ganeti_tx.errors import LuxiError
from ganeti_tx.test.cli.fakes import CommandLine, Terminal


class MasterTests(SynchronousTestCase):
    """What is run, and with what."""

    def setUp(self) -> None:
        """A master daemon that answers."""
        self.cli = CommandLine()

    def request(self, *words: str, stdin: io.StringIO | None = None) -> dict[str, Any]:
        """What the words send to ganeti-bootstrap, which must be able to read it."""
        self.assertEqual(self.cli("gnt-cluster", "master-failover", *words, stdin=stdin).status, 0)
        argv, document = self.cli.programs[-1]
        self.assertEqual(argv[1:], ["-P", "-m", "ganeti_tx.bootstrap.main", "master-failover"])
        assert document is not None
        read_request(document)
        found: dict[str, Any] = json.loads(document)
        return found

    def test_failover(self) -> None:
        """Offline nodes may be ignored in so many words, with or without a value; they always are."""
        usual = {"no_voting": False, "ignore_offline_nodes": True}
        self.assertEqual(self.request(), usual)
        for words in (
            ("--ignore-offline-nodes",),
            ("--ignore-offline-nodes=yes",),
            ("--ignore-offline-nodes", "yes"),
            ("--ignore-offline-nodes", "--yes-do-it"),
        ):
            self.assertEqual(self.request(*words), usual, words)
        self.assertFalse(self.request("--ignore-offline-nodes", "no")["ignore_offline_nodes"])
        self.assertEqual(self.cli("gnt-cluster", "master-failover", "--ignore-offline-nodes", "x").status, 1)

    def test_no_voting(self) -> None:
        """Not to vote must be confirmed, by an option or in answer to a question."""
        self.assertTrue(self.request("--no-voting", "--yes-do-it")["no_voting"])
        self.assertTrue(self.request("--no-voting", stdin=Terminal("y\n"))["no_voting"])
        self.cli.programs.clear()
        self.assertEqual(self.cli("gnt-cluster", "master-failover", "--no-voting").status, 1)
        self.assertEqual(self.cli("gnt-cluster", "master-failover", "--no-voting", stdin=Terminal("n\n")).status, 1)
        self.assertEqual(self.cli.programs, [])

    def test_alias(self) -> None:
        """The command has its older name, too."""
        self.assertEqual(self.cli("gnt-cluster", "masterfailover").status, 0)

    def test_ping(self) -> None:
        """The status tells, and nothing is written."""
        self.cli.client.answers["QueryClusterInfo"] = lambda: {"name": "c1"}
        self.assertEqual(self.cli("gnt-cluster", "master-ping"), (0, "", ""))

        def refuse() -> Any:
            raise LuxiError("nobody there")

        self.cli.client.answers["QueryClusterInfo"] = refuse
        self.assertEqual(self.cli("gnt-cluster", "master-ping"), (1, "", ""))

    def test_address(self) -> None:
        """The address is taken by a job; to give it up must be confirmed."""
        self.assertEqual(self.cli("gnt-cluster", "activate-master-ip").status, 0)
        self.assertEqual(self.cli("gnt-cluster", "deactivate-master-ip").status, 1)
        self.assertEqual(self.cli("gnt-cluster", "deactivate-master-ip", "--yes").status, 0)
        submitted = [op["OP_ID"] for op in self.cli.client.submitted]
        self.assertEqual(submitted, ["OP_CLUSTER_ACTIVATE_MASTER_IP", "OP_CLUSTER_DEACTIVATE_MASTER_IP"])
