"""LUXI's methods that change the job filter rules."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from attrs import define
from twisted.logger import Logger

from ganeti_tx.config.interfaces import IConfig
from ganeti_tx.errors import ECode, GanetiError, OpPrereqError, error_text
from ganeti_tx.luxid.dispatch import Answer
from ganeti_tx.model.filter_rule import FilterAction, FilterRule, Reason
from ganeti_tx.queue.filters.predicates import check_predicates

log = Logger()

#: The configuration holds no more rules than this; each job may be measured against all of them.
MAX_RULES = 500
#: The predicates and the reason trail of a rule, as JSON.
MAX_RULE_BYTES = 64 * 1024
#: Rules' priorities and rate limits.
MAX_NUMBER = 2**31 - 1
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ACTIONS = "ACCEPT, PAUSE, REJECT, CONTINUE or [RATE_LIMIT, N] with N from 1"


@define
class FilterMethods:
    """Rules are changed in the configuration; then the queue looks at them."""

    config: IConfig
    rules: Callable[[], Mapping[str, FilterRule]]
    last_job_id: Callable[[], int]
    wake: Callable[[], None]

    def table(self) -> Mapping[str, Answer]:
        """Which method is which call."""
        return {"ReplaceFilter": self.replace, "DeleteFilter": self.delete}

    async def replace(
        self, uuid: str | None, priority: int, predicates: Sequence[object], action: object, trail: Sequence[object]
    ) -> str:
        """Put a rule in place of the one of this uuid, or add it; its uuid. A replaced rule counts as made now.

        @raise OpPrereqError: something of it is wrong (wrong_input), or there are too many (insufficient_resources).
        """
        if uuid is not None and not UUID.fullmatch(uuid):
            raise OpPrereqError(f"invalid uuid {uuid[:60]!r} of a filter rule", ECode.INVAL)
        if priority > MAX_NUMBER:
            raise OpPrereqError(f"priority {brief(priority)} is too high; allowed are 0 to {MAX_NUMBER}", ECode.INVAL)
        rule = FilterRule(
            uuid=uuid or "",
            watermark=self.last_job_id(),
            priority=priority,
            predicates=check_predicates(predicates),
            action=checked_action(action),
            reason_trail=checked_trail(trail),
        )
        check_size(rule)
        if uuid not in (rules := self.rules()) and len(rules) >= MAX_RULES:
            raise OpPrereqError(f"there are {len(rules)} filter rules; allowed are {MAX_RULES}", ECode.NORES)
        return await self._put(rule)

    async def _put(self, rule: FilterRule) -> str:
        try:
            if not rule.uuid:
                rule = msgspec.structs.replace(rule, uuid=await self.config.generate_uuid())
            await self.config.put_filter(rule)
        finally:
            self.wake()
            await self._give_back()
        return rule.uuid

    async def _give_back(self) -> None:
        """Reserve nothing any more; what cannot be given back does not undo the rule, and WConfD drops it soon by itself."""
        try:
            await self.config.drop_reservations()
        except GanetiError as error:
            log.warn("the uuid of a filter rule stays reserved for now: {error}", error=error_text(error))

    async def delete(self, uuid: str) -> None:
        """Remove a rule. @raise OpPrereqError: there is none of that uuid (unknown_entity)."""
        try:
            await self.config.remove_filter(uuid[:100])
        finally:
            self.wake()


def checked_action(action: object) -> FilterAction:
    """@raise OpPrereqError: it is none."""
    try:
        read: FilterAction = msgspec.convert(action, FilterAction)
    except msgspec.ValidationError:
        raise OpPrereqError(f"unknown action {brief(action)}; give {ACTIONS}", ECode.INVAL) from None
    if not isinstance(read, str) and not 0 < read[1] <= MAX_NUMBER:
        raise OpPrereqError(f"invalid rate limit {brief(read[1])}; allowed are 1 to {MAX_NUMBER}", ECode.INVAL)
    return read


def checked_trail(trail: Sequence[object]) -> tuple[Reason, ...]:
    """@raise OpPrereqError: it is none."""
    try:
        return msgspec.convert(trail, tuple[Reason, ...])
    except msgspec.ValidationError as error:
        raise OpPrereqError(f"reason trail: {error}; entries are [source, text, nanoseconds]", ECode.INVAL) from None


def check_size(rule: FilterRule) -> None:
    """@raise OpPrereqError: it is too large to be measured against every job."""
    try:
        size = len(msgspec.json.encode((rule.predicates, rule.reason_trail)))
    except (OverflowError, ValueError):
        raise OpPrereqError("a number in the rule is too large; allowed are 64 bits", ECode.INVAL) from None
    if size > MAX_RULE_BYTES:
        raise OpPrereqError(f"the rule takes {size} bytes; allowed are {MAX_RULE_BYTES}", ECode.INVAL)


def brief(value: Any) -> str:
    """A value from outside, short enough for an error."""
    shown = repr(value)
    return shown if len(shown) <= 100 else shown[:100] + "..."
