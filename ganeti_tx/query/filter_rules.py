"""Job filter rules as a resource of queries, with their fields."""

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.model.filter_rule import FilterRule
from ganeti_tx.query.collect import ALL_AT_ONCE
from ganeti_tx.query.language.field import Field, Kind, Need, by_name, stored
from ganeti_tx.query.view import View

FILTER_FIELDS = by_name(
    [
        stored("uuid", "UUID", Kind.OTHER, "Unique identifier"),
        stored("watermark", "Watermark", Kind.OTHER, "Highest job id that existed when the rule was made"),
        stored("priority", "Priority", Kind.OTHER, "Priority: rules with lower ones are asked first"),
        stored("predicates", "Predicates", Kind.OTHER, "What a job must be like for the rule to apply"),
        stored("action", "Action", Kind.OTHER, "What happens to such jobs"),
        stored("reason_trail", "ReasonTrail", Kind.OTHER, "Why the rule was made"),
    ]
)


@frozen
class FilterRows:
    """Rows are rules of the configuration, in the order in which they are asked; there is no context."""

    view: Callable[[], View]
    name_field: str = "uuid"
    fields: Mapping[str, Field] = FILTER_FIELDS
    at_a_time: int = ALL_AT_ONCE

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[FilterRule], None]:
        """As Resource.rows says; a rule's name is its uuid."""
        rules = self.view().config.filters
        if names is None:
            return sorted(rules.values(), key=lambda rule: (rule.priority, rule.watermark, rule.uuid)), None
        for name in names:
            if strict and str(name) not in rules:
                raise OpPrereqError(f"filter rule {str(name)[:100]!r} not known", ECode.NOENT)
        return [rules[str(name)] for name in names if str(name) in rules], None

    async def collect(self, rows: Sequence[FilterRule], context: None, needs: frozenset[Need]) -> None:
        """Nothing to ask nodes for."""
