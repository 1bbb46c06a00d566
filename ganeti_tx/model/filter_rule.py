"""A rule that holds jobs back or lets them through."""

from typing import Annotated, Literal

import msgspec

from ganeti_tx.model.base import Wire

#: ACCEPT, PAUSE, REJECT, CONTINUE, or a limit on how many such jobs run at once.
FilterAction = Literal["ACCEPT", "PAUSE", "REJECT", "CONTINUE"] | tuple[Literal["RATE_LIMIT"], int]
#: Source, text, nanoseconds since the epoch.
Reason = tuple[str, str, int]


class FilterRule(Wire, frozen=True, kw_only=True):
    """One rule: jobs that meet all `predicates` take `action`; the rule of lower `priority` is asked first.

    `watermark` is the highest job id that there was when the rule was made; predicates over job ids can name it.
    """

    uuid: str
    watermark: int
    priority: Annotated[int, msgspec.Meta(ge=0)]
    predicates: tuple[tuple[str, object], ...]
    action: FilterAction
    reason_trail: tuple[Reason, ...]
