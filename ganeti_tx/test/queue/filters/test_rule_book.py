"""Which rule decides about a job, and under which limits it is."""

import random

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.queue.filters.rule_book import Action, Limit, limits_by_reason, read_rules, rejection_text
from ganeti_tx.queue.job import Status
from ganeti_tx.test.queue.filters.rules import job, op, rule

DELAYS = ("opcode", ["==", "OP_ID", "OP_TEST_DELAY"])
NEW = ("jobid", [">", "id", "watermark"])


class DecidingTests(SynchronousTestCase):
    """The first rule that applies and is not CONTINUE."""

    def decides(self, *rules: FilterRule, job_id: int = 5) -> str | None:
        """The uuid of the rule that decides about a delay."""
        found = read_rules(rules).decide(job(job_id)).rule
        return None if found is None else found.uuid

    def test_order(self) -> None:
        """By priority, then watermark, then uuid, in whatever order they are stored."""
        rules = [
            rule("c", "PAUSE"),
            rule("b", "PAUSE", watermark=1),
            rule("d", "PAUSE", watermark=1),
            rule("a", "PAUSE", priority=1),
        ]
        mixed = list(rules)
        random.Random(1).shuffle(mixed)
        found = []
        while mixed:
            first = self.decides(*mixed)
            found.append(first)
            mixed = [each for each in mixed if each.uuid != first]
        self.assertEqual(found, ["c", "b", "d", "a"])

    def test_continue(self) -> None:
        """The next rule is asked; at the end the job is accepted."""
        self.assertEqual(self.decides(rule("a", "CONTINUE"), rule("b", "REJECT")), "b")
        self.assertIsNone(self.decides(rule("a", "CONTINUE")))
        self.assertIs(read_rules([rule("a", "CONTINUE")]).decide(job(1)).action, Action.ACCEPT)

    def test_accept(self) -> None:
        """An exception goes before what it is an exception from."""
        self.assertEqual(self.decides(rule("a", "ACCEPT", DELAYS), rule("b", "PAUSE", priority=1)), "a")

    def test_all_predicates(self) -> None:
        """A rule applies only when all predicates hold; one without any applies always."""
        both = rule("a", "PAUSE", DELAYS, NEW, watermark=5)
        self.assertIsNone(self.decides(both, job_id=5))
        self.assertEqual(self.decides(both, job_id=6), "a")
        self.assertEqual(self.decides(rule("a", "PAUSE")), "a")

    def test_begun(self) -> None:
        """A job that has done some of its opcodes is not rejected any more, but may have to wait."""
        done = msgspec.structs.replace(op(), status=Status.SUCCESS)
        begun = job(5, done, op())
        book = read_rules([rule("a", "REJECT"), rule("b", "PAUSE", priority=1)])
        self.assertIs(book.decide(begun).action, Action.PAUSE)
        self.assertIs(book.decide(job(5, op(), op())).action, Action.REJECT)

    def test_unreadable(self) -> None:
        """A rule that this version cannot read is named and never applies; the others do."""
        book = read_rules([rule("bad", "REJECT", ("weather", ["==", "rain", 1])), rule("good", "PAUSE", priority=1)])
        self.assertEqual(len(book.faults), 1)
        self.assertIn("bad", book.faults[0])
        self.assertIn("'weather'", book.faults[0])
        self.assertFalse(book.rejects)
        self.assertIs(book.decide(job(1)).action, Action.PAUSE)

    def test_rejection_text(self) -> None:
        """It names the rule, and says what the operator said of it."""
        made = rule("u-1", "REJECT")
        self.assertEqual(rejection_text(4, made), "job 4 was rejected by filter rule u-1")
        trail = (("gnt:user", "no migrations today", 1), ("gnt:client:gnt-filter", "add", 2))
        said = FilterRule(**{name: getattr(made, name) for name in made.__struct_fields__} | {"reason_trail": trail})
        self.assertEqual(rejection_text(4, said), "job 4 was rejected by filter rule u-1: no migrations today")


class LimitTests(SynchronousTestCase):
    """Rate limits of rules and of reasons."""

    def test_rule(self) -> None:
        """A rate-limiting rule puts the jobs that it decides about under its limit, no others."""
        book = read_rules([rule("a", "ACCEPT", NEW, watermark=9), rule("b", ("RATE_LIMIT", 3), priority=1)])
        self.assertEqual(book.decide(job(1)).limits, (Limit(("rule", "b"), 3),))
        self.assertEqual(book.decide(job(10)).limits, ())

    def test_held_back(self) -> None:
        """A paused or rejected job is under no limit; an accepted one still under those of its reasons."""
        limited = job(1, op("OP_TEST_DELAY", "rate-limit:2:x"))
        self.assertEqual(read_rules([rule("a", "PAUSE")]).decide(limited).limits, ())
        self.assertEqual(
            read_rules([rule("a", "ACCEPT")]).decide(limited).limits, (Limit(("reason", "rate-limit:2:x"), 2),)
        )

    def test_strict(self) -> None:
        """Only a positive decimal number and a label make a limit."""
        good = ["rate-limit:1:x", "rate-limit:20:two words: and more", "rate-limit:7::", "rate-limit:3:ü"]
        bad = [
            "rate-limit:0:x", "rate-limit:-1:x", "rate-limit:+1:x", "rate-limit:01:x", "rate-limit:1.5:x", "rate-limit::x",
            "rate-limit:1", "rate-limit:1:", "rate-limit: 1:x", " rate-limit:1:x", "Rate-limit:1:x", "rate-limit:1:a\nb",
            "rate-limit:1:x\n", "rate-limit:٣:x", "xrate-limit:1:x", "rate_limit:1:x", "rate-limit:9999999999:x",
        ]  # fmt: skip
        self.assertEqual([len(list(limits_by_reason(job(1, op("OP_X", text))))) for text in good], [1] * len(good))
        self.assertEqual(list(limits_by_reason(job(1, op("OP_X", *bad)))), [])

    def test_many(self) -> None:
        """All opcodes and entries count; the same text is one limit, another number or label is another."""
        many = job(1, op("OP_X", "rate-limit:2:a", "rate-limit:3:a"), op("OP_X", "rate-limit:2:a", "rate-limit:2:b"))
        expected = {"rate-limit:2:a": 2, "rate-limit:2:b": 2, "rate-limit:3:a": 3}
        self.assertEqual({limit.key[1]: limit.most for limit in limits_by_reason(many)}, expected)

    @settings(max_examples=200, deadline=None)
    @given(st.integers(1, 10**9 - 1), st.text(st.characters(exclude_characters="\n"), min_size=1))
    def test_any_label(self, most: int, label: str) -> None:
        """Whatever stands in the label is part of the key."""
        text = f"rate-limit:{most}:{label}"
        self.assertEqual(list(limits_by_reason(job(1, op("OP_X", text)))), [Limit(("reason", text), most)])
