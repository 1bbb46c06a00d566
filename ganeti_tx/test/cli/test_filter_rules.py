"""Tests of gnt-filter."""

import json

from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.cli.values import InvalidValue, parse_filter_action
from ganeti_tx.test.cli.fakes import CommandLine, answer_of

UUID = "11111111-2222-3333-4444-555555555555"
PREDICATES = [["jobid", [">", "id", "watermark"]]]
RULES = answer_of(
    *((name, "other", name) for name in ("uuid", "watermark", "priority", "predicates", "action", "reason_trail")),
    rows=[[UUID, 7, 10, PREDICATES, ["RATE_LIMIT", 2], [["gnt:user", "calm", 1_700_000_000_000_000_000]]]],
)


class ChangeTests(SynchronousTestCase):
    """add, replace, delete."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.answers["ReplaceFilter"] = lambda *args: UUID
        self.cli.client.answers["DeleteFilter"] = lambda uuid: None

    def test_add(self) -> None:
        """What was typed reaches the master with the reasons; the uuid is printed."""
        words = ("--priority=10", f"--predicates={json.dumps(PREDICATES)}", "--action=RATE_LIMIT 2", "--reason=calm")
        outcome = self.cli("gnt-filter", "add", *words)
        self.assertEqual((outcome.status, outcome.out), (0, f"{UUID}\n"))
        ((uuid, priority, predicates, action, trail),) = self.cli.client.sent("ReplaceFilter")
        self.assertEqual((uuid, priority, predicates, action), (None, 10, PREDICATES, ["RATE_LIMIT", 2]))
        self.assertEqual([entry[:2] for entry in trail], [["gnt:user", "calm"], ["gnt:client:gnt-filter", "add"]])

    def test_defaults(self) -> None:
        """Without options a rule says CONTINUE about every job."""
        self.assertEqual(self.cli("gnt-filter", "add").status, 0)
        self.assertEqual(self.cli.client.sent("ReplaceFilter")[0][:4], [None, 0, [], "CONTINUE"])

    def test_replace(self) -> None:
        """The uuid says which."""
        self.assertEqual(self.cli("gnt-filter", "replace", "--action=PAUSE", UUID).status, 0)
        self.assertEqual(self.cli.client.sent("ReplaceFilter")[0][:4], [UUID, 0, [], "PAUSE"])

    def test_delete(self) -> None:
        """One, silently."""
        self.assertEqual(self.cli("gnt-filter", "delete", UUID), (0, "", ""))
        self.assertEqual(self.cli.client.sent("DeleteFilter"), [[UUID]])

    def test_mistakes(self) -> None:
        """One line each, which says what is allowed; nothing is sent."""
        for words, status, part in (
            (["add", "--action=pause"], 2, "ACCEPT, CONTINUE, PAUSE, REJECT or 'RATE_LIMIT N'"),
            (["add", "--action=RATE_LIMIT 0"], 2, "N from 1"),
            (["add", "--priority=-1"], 1, "from 0"),
            (["add", "--predicates={}"], 1, "JSON list"),
            (["add", "--predicates=[["], 2, "invalid JSON"),
            (["add", "word"], 1, "no arguments"),
            (["replace", "--action=PAUSE"], 1, "<uuid>"),
            (["delete"], 1, "<uuid>"),
        ):
            outcome = self.cli("gnt-filter", *words)
            self.assertEqual((outcome.status, outcome.out, len(outcome.err.splitlines())), (status, "", 1), words)
            self.assertIn(part, outcome.err)
        self.assertEqual(self.cli.client.calls, [])

    def test_action(self) -> None:
        """Case matters; spaces around do not."""
        for text, expected in (("PAUSE", "PAUSE"), (" REJECT ", "REJECT"), ("RATE_LIMIT  12", ["RATE_LIMIT", 12])):
            self.assertEqual(parse_filter_action(text), expected)
        for text in ("", "RATE_LIMIT", "RATE_LIMIT x", "RATE_LIMIT -1", "RATE_LIMIT 1 2", "PAUSE 1", "Pause"):
            self.assertRaises(InvalidValue, parse_filter_action, text)

    def test_help(self) -> None:
        """The help of add is the manual of rules."""
        for command in ("add", "replace"):
            outcome = self.cli("gnt-filter", command, "--help")
            self.assertEqual(outcome.status, 0)
            for word in ("ACCEPT", "RATE_LIMIT N", "watermark", "rate-limit:N:LABEL", '["reason", EXPRESSION]'):
                self.assertIn(word, outcome.out)
            self.assertLessEqual(max(map(len, outcome.out.splitlines())), 120)


class ShowTests(SynchronousTestCase):
    """list, list-fields, info."""

    def setUp(self) -> None:
        self.cli = CommandLine()
        self.cli.client.answers["Query"] = lambda resource, fields, chosen: RULES

    def test_list(self) -> None:
        """Predicates, actions and reasons come as Python prints them."""
        outcome = self.cli("gnt-filter", "list", "--separator=|", "--no-headers")
        trail = "[['gnt:user', 'calm', 1700000000000000000]]"
        self.assertEqual(outcome.out, f"{UUID}|7|10|{PREDICATES}|['RATE_LIMIT', 2]|{trail}\n")

    def test_some(self) -> None:
        """Rules are named by uuid."""
        self.cli("gnt-filter", "list", UUID, "other")
        chosen = ["|", ["==", "uuid", UUID], ["==", "uuid", "other"]]
        self.assertEqual(self.cli.client.sent("Query")[0][2], chosen)

    def test_info(self) -> None:
        """One block a rule."""
        outcome = self.cli("gnt-filter", "info", UUID)
        self.assertEqual(self.cli.client.sent("Query")[0][2], ["|", ["==", "uuid", UUID]])
        self.assertEqual(
            outcome.out.splitlines(),
            [
                f"UUID: {UUID}", "  Watermark: 7", "  Priority: 10", f"  Predicates: {PREDICATES}",
                "  Action: ['RATE_LIMIT', 2]", "  Reason trail: [['gnt:user', 'calm', 1700000000000000000]]",
            ],
        )  # fmt: skip
