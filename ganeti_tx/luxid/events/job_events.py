"""From two states of a job to the events between them."""

import json
from collections.abc import Callable, Iterator

from attrs import frozen
from twisted.logger import Logger

from ganeti_tx.luxid.events.job_objects import about
from ganeti_tx.model.events import Event, JobEvent, LogEvent, OpcodeEvent
from ganeti_tx.queue.files.job_head import JobHead, summary_of
from ganeti_tx.queue.files.loading import LiveJob
from ganeti_tx.queue.job import FINAL, LogEntry, QueuedJob, QueuedOp

log = Logger()

#: Characters of a message; more is cut off.
MAX_TEXT = 4096
#: So many opcodes of a new job are summed up, in so many characters each.
MAX_SUMMARIES, MAX_SUMMARY = 20, 200


@frozen
class JobEvents:
    """Hears from the queue, see `queue.files.store.Observer`."""

    add: Callable[[Event], None]
    now: Callable[[], float]

    def changed(self, before: LiveJob | None, now: QueuedJob) -> None:
        """Tell what is different."""
        if isinstance(before, JobHead):
            return  # it had ended; its file was only read again
        try:
            for event in changes(before, now, self.now()):
                self.add(event)
        except Exception:  # nothing is awaited here; the queue must go on
            log.failure("no events can be made of job {job_id}", job_id=now.id)

    def gone(self, job: LiveJob, archived: bool) -> None:
        """Tell that a job has left the queue. What one that has ended was about is not in memory any more."""
        self.add(
            JobEvent(
                time=self.now(),
                job=job.id,
                change="archived" if archived else "lost",
                status=job.status.value,
                priority=job.priority,
            )
        )


def changes(before: QueuedJob | None, now: QueuedJob, time: float) -> Iterator[Event]:
    """What happened to a job, in the order in which it may have: it begins, its opcodes go on, it ends."""
    if before is None:
        yield job_event(now, "received", time)
        return
    moved = now.status is not before.status
    if moved and now.status not in FINAL:
        yield job_event(now, "status", time)
    elif now.status not in FINAL and now.priority != before.priority:
        yield job_event(now, "priority", time)
    told = before.last_serial
    for index, (old, new) in enumerate(zip(before.ops, now.ops, strict=True)):
        if old is not new:
            yield from op_changes(now.id, index, old, new, told, time)
    if moved and now.status in FINAL:
        yield job_event(now, "status", time)


def op_changes(job_id: int, index: int, old: QueuedOp, new: QueuedOp, told: int, time: float) -> Iterator[Event]:
    """An opcode's new status, and its messages with serial numbers after the one that was told last."""
    moved = new.status is not old.status
    if moved and new.status not in FINAL:
        yield op_event(job_id, index, new, time)
    for entry in new.log:
        if entry[0] > told:
            yield log_event(job_id, index, new, entry)
    if moved and new.status in FINAL:
        yield op_event(job_id, index, new, time)


def job_event(job: QueuedJob, change: str, time: float) -> JobEvent:
    """The event of a job as it is now."""
    objects = about(op.input for op in job.ops)
    summary = job.ops[:MAX_SUMMARIES] if change == "received" else ()
    return JobEvent(
        time=time,
        job=job.id,
        change=change,  # type: ignore[arg-type]  # one of the words, from `changes`
        status=job.status.value,
        priority=job.priority,
        about=objects.objects,
        about_more=objects.more,
        summary=tuple(summary_of(op.input)[:MAX_SUMMARY] for op in summary),
    )


def op_event(job_id: int, index: int, op: QueuedOp, time: float) -> OpcodeEvent:
    """The event of an opcode as it is now."""
    objects = about([op.input])
    return OpcodeEvent(
        time=time,
        job=job_id,
        index=index,
        op_id=str(op.input.get("OP_ID", "")),
        status=op.status.value,
        about=objects.objects,
        about_more=objects.more,
    )


def log_event(job_id: int, index: int, op: QueuedOp, entry: LogEntry) -> LogEvent:
    """The event of a message."""
    serial, (seconds, microseconds), kind, payload = entry
    text = payload if isinstance(payload, str) else json.dumps(payload)
    objects = about([op.input])
    return LogEvent(
        time=seconds + microseconds / 1e6,
        job=job_id,
        index=index,
        serial=serial,
        type=kind,
        text=text[:MAX_TEXT],
        cut=len(text) > MAX_TEXT,
        about=objects.objects,
        about_more=objects.more,
    )
