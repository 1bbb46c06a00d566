"""Jobs and rules for the tests of filters."""

from typing import Any

from ganeti_tx.model.filter_rule import FilterAction, FilterRule
from ganeti_tx.queue.job import QueuedJob, QueuedOp

NANOSECONDS = 1_700_000_000_000_000_000


def op(op_id: str = "OP_TEST_DELAY", *reasons: str, priority: int = 0, **params: Any) -> QueuedOp:
    """An opcode as it is stored, with reasons typed by a user."""
    trail = [["gnt:user", text, NANOSECONDS] for text in reasons]
    return QueuedOp(input={"OP_ID": op_id, "reason": trail, **params}, priority=priority)


def job(job_id: int, *ops: QueuedOp) -> QueuedJob:
    """A queued job; of one delay when nothing else is said."""
    return QueuedJob(id=job_id, ops=list(ops) or [op()])


def rule(
    uuid: str, action: FilterAction, *predicates: tuple[str, object], priority: int = 0, watermark: int = 0
) -> FilterRule:
    """A rule without reasons."""
    return FilterRule(
        uuid=uuid, watermark=watermark, priority=priority, predicates=predicates, action=action, reason_trail=()
    )
