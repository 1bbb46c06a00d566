"""Tests of gnt-storage."""

from typing import Any

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.test.cli.fakes import CommandLine, Outcome

GOOD = ["/srv/ext/shelf", True, "", [["colour", "what it looks like"], ["size_class", "how large"]]]
BAD = ["/usr/ext/shelf", False, "script grow is missing", []]


class StorageTests(SynchronousTestCase):
    """gnt-storage."""

    def run_with(self, rows: list[Any], *words: str) -> Outcome:
        """The command, where the job gives these rows."""
        cli = CommandLine()
        cli.client.results["OP_EXT_STORAGE_DIAGNOSE"] = rows
        return cli("gnt-storage", *words)

    def test_diagnose(self) -> None:
        """Each node is shown, and each group; a fault somewhere is no failure of the command."""
        found = {"node2": [BAD], "node1": [GOOD, BAD], "node3": []}
        outcome = self.run_with([["shelf", found, {"default": False, "rack": True}]], "diagnose")
        self.assertEqual(
            outcome.out.splitlines(),
            [
                "Provider: shelf",
                "---",
                "  Node: node1, status: valid (path: /srv/ext/shelf) [parameters: colour, size_class]",
                "    hidden by it: /usr/ext/shelf",
                "  Node: node2, status: invalid - script grow is missing (path: /usr/ext/shelf) [no parameters]",
                "  Node: node3, status: ExtStorage provider not found",
                "  --",
                "  For nodegroup: default --> invalid",
                "  For nodegroup: rack --> valid",
                "",
            ],
        )
        self.assertEqual(outcome.status, 0)

    def test_info(self) -> None:
        """Groups and parameters of those that are named, or of all; only the name of one that is not there."""
        rows = [["other", {"default": False}, []], ["shelf", {"default": True}, GOOD[3]]]
        shelf = (
            "shelf:\n  - Valid for nodegroups:\n      default\n  - Supported parameters:\n"
            "      colour: what it looks like\n      size_class: how large\n\n"
        )
        self.assertEqual(self.run_with(rows, "info", "shelf", "nosuch").out, f"{shelf}nosuch: Not Found\n\n")
        self.assertIn("other:\n  - Invalid for all nodegroups\n\n", self.run_with(rows, "info").out)

    def test_none(self) -> None:
        """Ganeti's words where there is none at all."""
        for words, text in {
            ("diagnose",): "Can't get the list of ExtStorage providers",
            ("info",): "Can't get the ExtStorage providers list",
            ("info", "nosuch"): "Can't get the ExtStorage providers list",
        }.items():
            outcome = self.run_with([], *words)
            self.assertEqual((outcome.status, outcome.out, outcome.err), (1, "", f"{text}\n"))
