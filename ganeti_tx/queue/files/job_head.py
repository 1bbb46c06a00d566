"""What memory keeps of a job that has ended: as much as lists and the archiving by age need, in some 400 bytes."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ganeti_tx.errors import GanetiError
from ganeti_tx.model.opcodes import decode, summary
from ganeti_tx.queue.job import DEFAULT_PRIORITY, QueuedJob, Status, Timestamp

MICROSECONDS = 1_000_000


class JobHead(msgspec.Struct, frozen=True, gc=False):
    """An ended job without its opcodes; the attributes that it shares with `QueuedJob` mean the same.

    @ivar received: microseconds since the epoch, which take less room than a pair of numbers; so `started` and `ended`.
    @ivar title: the summaries of the opcodes; for a single one the text itself.
    """

    id: int
    status: Status
    received: int | None
    started: int | None
    ended: int | None
    title: str | tuple[str, ...]

    @property
    def finalized(self) -> bool:
        """Always: only of ended jobs there are heads."""
        return True

    @property
    def priority(self) -> int:
        """That of a job without open opcodes."""
        return DEFAULT_PRIORITY

    @property
    def received_timestamp(self) -> Timestamp | None:
        """When the job was received."""
        return _pair(self.received)

    @property
    def start_timestamp(self) -> Timestamp | None:
        """When it was started."""
        return _pair(self.started)

    @property
    def end_timestamp(self) -> Timestamp | None:
        """When it ended."""
        return _pair(self.ended)

    @property
    def summaries(self) -> list[str]:
        """One text an opcode."""
        return [self.title] if isinstance(self.title, str) else list(self.title)


def head_of(job: QueuedJob) -> JobHead:
    """The head of an ended job."""
    titles = [summary_of(op.input) for op in job.ops]
    return JobHead(
        job.id,
        job.status,
        _microseconds(job.received_timestamp),
        _microseconds(job.start_timestamp),
        _microseconds(job.end_timestamp),
        titles[0] if len(titles) == 1 else tuple(titles),
    )


def summary_of(stored: Mapping[str, Any]) -> str:
    """The opcode's summary; its name alone when this version does not know it."""
    try:
        return summary(decode(stored))
    except GanetiError:
        return str(stored.get("OP_ID", "")).removeprefix("OP_")


def _microseconds(stamp: Timestamp | None) -> int | None:
    return None if stamp is None else stamp[0] * MICROSECONDS + stamp[1]


def _pair(microseconds: int | None) -> Timestamp | None:
    return None if microseconds is None else divmod(microseconds, MICROSECONDS)
