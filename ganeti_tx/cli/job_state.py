"""How far a job is, on one line for whoever looks on."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from ganeti_tx.cli.step_text import STEP

#: What is asked of a job for it; its status is the first of them.
FIELDS = ("status", "summary", "opstatus", "start_ts")
#: What is told where that alone is wanted.
PLAIN_FIELDS = FIELDS[:1]
_WAITS = {"queued": "waits in the queue", "waiting": "waits for locks", "canceling": "is being canceled"}
_SYNC = re.compile(r"- INFO: - device (disk/\d+): +([\d.]+)% done, (?:(.*) remaining|no time)")
_SYNCED = re.compile(r"- INFO: Instance .* disks are in sync")
_PARTS = {"h": 3600, "m": 60, "s": 1}
_SEPARATOR = " | "


class JobState:
    """What is known of a job while it is followed."""

    def __init__(self, job_id: int) -> None:
        self._id = job_id
        self._info: Sequence[Any] = ()
        self._step: _Step | None = None
        self._syncs: dict[str, tuple[str, float, float | None]] = {}

    def learn(self, info: Sequence[Any], entries: Sequence[Sequence[Any]]) -> None:
        """Take in values of `FIELDS`, and new log entries."""
        self._info = info
        for _serial, stamp, kind, message in entries:
            when = _seconds(stamp)
            if kind == STEP and isinstance(message, dict):
                self._learn_step(message, when)
            elif found := _SYNC.search(str(message)):
                self._syncs[found[1]] = (found[2], when, None if found[3] is None else _duration(found[3]))
            elif _SYNCED.search(str(message)):
                self._syncs.clear()

    def _learn_step(self, step: dict[str, Any], when: float) -> None:
        if step.get("state") != "begun":
            return
        nodes = f" on {', '.join(map(str, step['nodes']))}" if step.get("nodes") else ""
        place, left = f"step {step.get('step')} of {step.get('of')}", step.get("left")
        self._syncs.clear()
        self._step = _Step(
            place, f": {step.get('title')}{nodes}", when, float(left) if isinstance(left, (int, float)) else None
        )

    def text(self, now: float) -> str:
        """The line."""
        if len(self._info) < len(FIELDS):
            return ""
        status, summaries, op_statuses, start = self._info
        parts = [f"job {self._id} {_WAITS.get(status, 'runs')}", _operation(summaries or (), op_statuses or ())]
        if self._step is not None and status == "running":
            parts += [self._step.place + self._step.what + self._step.left_at(now), *self._synchronising(now)]
        if start is not None:
            parts.append(f"{shown(now - _seconds(start))} elapsed")
        return _line(parts)

    def brief(self, now: float) -> str:
        """The same for one of several on a line: its step, and what is left of that."""
        status = self._info[0] if self._info else ""
        if self._step is None or status != "running":
            return f"{self._id} {_WAITS.get(status, 'runs')}"
        return f"{self._id} " + ", ".join([self._step.place + self._step.left_at(now), *self._synchronising(now)])

    def _synchronising(self, now: float) -> list[str]:
        return [_sync(disk, now, *state) for disk, state in sorted(self._syncs.items())]


class _Step(NamedTuple):
    place: str
    what: str
    when: float
    left: float | None

    def left_at(self, now: float) -> str:
        """What may be left of its time."""
        return "" if self.left is None else f", at most {shown(self.left - (now - self.when))} left"


def line_of_several(states: Sequence[JobState], now: float) -> str:
    """How far several jobs are."""
    jobs = "1 job goes on" if len(states) == 1 else f"{len(states)} jobs go on"
    return _line([jobs, *(state.brief(now) for state in states)])


def _line(parts: Sequence[str]) -> str:
    return "".join(each if each.isprintable() else " " for each in _SEPARATOR.join(filter(None, parts)))


def _operation(summaries: Sequence[str], statuses: Sequence[str]) -> str:
    """The opcode that is under way, and which of how many it is."""
    at = next(
        (at for at, status in enumerate(statuses) if status not in ("success", "error", "canceled")), len(statuses) - 1
    )
    if not 0 <= at < len(summaries):
        return ""
    return f"{summaries[at]} ({at + 1} of {len(summaries)})" if len(summaries) > 1 else str(summaries[at])


def _sync(disk: str, now: float, percent: str, when: float, left: float | None) -> str:
    return f"{disk} {percent}%" + ("" if left is None else f", about {shown(left - (now - when))} left")


def shown(seconds: float) -> str:
    """A time in hours, minutes and seconds."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def _duration(text: str) -> float:
    """Seconds of a time in hours, minutes and seconds."""
    return sum(int(number) * _PARTS[unit] for number, unit in re.findall(r"(\d{1,9})([hms])", text))


def _seconds(stamp: Sequence[float]) -> float:
    return stamp[0] + stamp[1] / 1e6
