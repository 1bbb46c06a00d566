"""Attempts to get locks: how long one lasts, how it raises the priority, and who may want the slot meanwhile
(design-2.1, Locking improvements; design-2.3, Job priorities).
"""

from collections.abc import Awaitable, Callable

from ganeti_tx.queue.job import HIGHEST_PRIORITY, QueuedOp, submitted_priority

#: No attempt lasts longer than this many seconds.
LONGEST_ATTEMPT = 64.0

#: Asks luxid, with a priority, whether the job may keep its slot: nobody as urgent waits for one.
MayGoOn = Callable[[int], Awaitable[bool]]


class SteppedBack(Exception):
    """The job is in the queue again; its process is free."""


def attempt_limit(op: QueuedOp) -> float | None:
    """Seconds that the next attempt to get the opcode's locks lasts: 2**failed; None, without limit, at the highest priority.

    The attempts that have failed are told by the priority, which rose with each; so they survive every restart.
    """
    if op.priority <= HIGHEST_PRIORITY:
        return None
    failed = submitted_priority(op) - op.priority
    return min(2.0 ** min(failed, 10), LONGEST_ATTEMPT)


def after_failed_attempt(op: QueuedOp) -> int:
    """The priority of an opcode that could not get its locks in time."""
    return max(op.priority - 1, HIGHEST_PRIORITY)
