"""Job filter rules: what they say of a job. Nothing here waits, remembers or writes.

Rules are asked by priority, watermark and uuid; the first that applies and does not say CONTINUE decides. Besides, a
reason such as `rate-limit:3:backups` limits the jobs that run with the very same reason to three.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from attrs import field, frozen

from ganeti_tx.errors import OpPrereqError
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.queue.filters.predicates import JobTest, read_predicate
from ganeti_tx.queue.job import FINAL, QueuedJob

#: Whose room a running job takes: a rule's by its uuid, or a reason's by its text.
Key = tuple[str, str]

#: The source of a reason that an operator typed (Ganeti 3.0 LUXI table, reason trail).
USER = "gnt:user"

#: A positive number and a label, nothing before and no line break.
_RATE_LIMIT = re.compile(r"rate-limit:([1-9][0-9]{0,8}):(.+)", re.ASCII)


def order(rule: FilterRule) -> tuple[int, int, str]:
    """Rules are asked in this order."""
    return rule.priority, rule.watermark, rule.uuid


class Action(Enum):
    """What a rule does with a job, apart from the number of a rate limit."""

    ACCEPT = "ACCEPT"
    CONTINUE = "CONTINUE"
    PAUSE = "PAUSE"
    REJECT = "REJECT"
    RATE_LIMIT = "RATE_LIMIT"


def action_of(rule: FilterRule) -> Action:
    """The kind of a rule's action."""
    return Action(rule.action if isinstance(rule.action, str) else rule.action[0])


@frozen
class Limit:
    """At most so many jobs with this key run at a time."""

    key: Key
    most: int


@frozen
class Decision:
    """What the rules say of a job, whatever else runs: the rule that decides, if any, and the limits that it is under."""

    rule: FilterRule | None
    limits: tuple[Limit, ...]

    @property
    def action(self) -> Action:
        """What becomes of it; a job that no rule is about is accepted."""
        return Action.ACCEPT if self.rule is None else action_of(self.rule)


@frozen
class ReadRule:
    """A rule with its predicates read into tests."""

    rule: FilterRule
    tests: tuple[JobTest, ...]

    def applies(self, job: QueuedJob) -> bool:
        """Whether the job meets all predicates; one that has done some of its opcodes is not rejected any more."""
        if action_of(self.rule) is Action.REJECT and any(op.status in FINAL for op in job.ops):
            return False
        return all(test(job) for test in self.tests)


@frozen
class RuleBook:
    """All rules, in the order in which they are asked. `faults` tells of those that cannot be read and never apply."""

    rules: tuple[ReadRule, ...] = ()
    faults: tuple[str, ...] = ()
    rejects: bool = field(init=False)

    def __attrs_post_init__(self) -> None:
        rejects = any(action_of(each.rule) is Action.REJECT for each in self.rules)
        object.__setattr__(self, "rejects", rejects)

    def decide(self, job: QueuedJob) -> Decision:
        """As Decision says; a paused or rejected job is under no limit."""
        rule = next((each.rule for each in self.rules if each.applies(job)), None)
        if rule is not None and action_of(rule) in (Action.PAUSE, Action.REJECT):
            return Decision(rule, ())
        own = [] if rule is None or isinstance(rule.action, str) else [Limit(("rule", rule.uuid), rule.action[1])]
        return Decision(rule, (*own, *limits_by_reason(job)))


def read_rules(rules: Iterable[FilterRule]) -> RuleBook:
    """The rules that can decide; CONTINUE never does."""
    read: list[ReadRule] = []
    faults: list[str] = []
    for rule in sorted(rules, key=order):
        if action_of(rule) is Action.CONTINUE:
            continue
        try:
            tests = tuple(read_predicate(kind, said, rule.watermark) for kind, said in rule.predicates)
        except OpPrereqError as error:
            faults.append(f"filter rule {rule.uuid} is left out: {error.args[0]}")
        else:
            read.append(ReadRule(rule, tests))
    return RuleBook(tuple(read), tuple(faults))


def reasons(opcode: Mapping[str, Any]) -> Iterator[str]:
    """The texts of an opcode's reason trail."""
    for entry in opcode.get("reason") or ():
        match entry:
            case [_source, str(text), *_]:
                yield text


def rejection_text(job_id: int, rule: FilterRule) -> str:
    """What a rejected job is told: the rule, and what the operator said of it."""
    said = "; ".join(text for source, text, _when in rule.reason_trail if source == USER and text)
    return f"job {job_id} was rejected by filter rule {rule.uuid}" + (f": {said}" if said else "")


def limits_by_reason(job: QueuedJob) -> Iterator[Limit]:
    """The limits that the job's own reasons set, each once."""
    for text in sorted({text for op in job.ops for text in reasons(op.input)}):
        if match := _RATE_LIMIT.fullmatch(text):
            yield Limit(("reason", text), int(match[1]))
