"""gnt-job info."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.options import SOME_JOBS, TREE, Command
from ganeti_tx.cli.output import format_split_time
from ganeti_tx.cli.parsing import Parsed, job_ids
from ganeti_tx.cli.presented import value_of_tree
from ganeti_tx.cli.session import Session
from ganeti_tx.cli.step_text import STEP, step_text
from ganeti_tx.cli.tree import Labelled, Part, Told, tree_lines
from ganeti_tx.errors import ExitCode, JobFileCorrupted

_FIELDS = (
    "id", "status", "ops", "opresult", "opstatus", "oplog", "opstart", "opexec", "opend", "received_ts", "start_ts",
    "end_ts",
)  # fmt: skip
Stamp = Sequence[int] | None


def show_jobs(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """All about jobs, each once; one that is not there is told in its place, a damaged one is complained of."""
    found: list[Labelled] = []
    shown = [_show(session, job_id, found) for job_id in dict.fromkeys(job_ids(words))]
    if session.document is not None:
        session.emit(value_of_tree(found))
    return ExitCode.SUCCESS if all(shown) else ExitCode.FAILURE


def _show(session: Session, job_id: int, found: list[Labelled]) -> bool:
    """Whether nothing is wrong; that there is no such job is an answer, as Ganeti has it.

    @param found: gets what is told of the job, which only people see at once; one that is not there has no status, as in
        the other documents about jobs.
    """
    try:
        (row,) = session.client.query_jobs([job_id], _FIELDS)
    except JobFileCorrupted as error:
        session.warn(str(error))
        return False
    job = None if row is None else dict(zip(_FIELDS, row, strict=True))
    if job is None or job["status"] is None:
        session.print(f"- Job ID {job_id} not found")
        found.append([("Job ID", job_id), ("Status", None)])
        return True
    found.append(_described(job))
    for line in tree_lines([found[-1]]) if session.document is None else ():
        session.print(line)
    return True


def _described(job: dict[str, Any]) -> Labelled:
    received, start, end = job["received_ts"], job["start_ts"], job["end_ts"]
    columns = (job[name] for name in ("ops", "opresult", "opstatus", "oplog", "opstart", "opexec", "opend"))
    return [
        ("Job ID", job["id"]),
        ("Status", job["status"]),
        ("Received", Told(f"        {format_split_time(received)}", _value(received))),
        ("Processing start", Told(_later(start, received), _value(start))),
        ("Processing end", Told(f"  {_later(end, start)}", _value(end))),
        ("Total processing time", _duration(received, end)),
        ("Opcodes", [_described_op(*op) for op in zip(*columns, strict=True)]),
    ]


def _described_op(
    op: dict[str, Any], result: Any, status: str, log: list[Any], start: Stamp, begun: Stamp, end: Stamp
) -> Labelled:
    """The spaces before some times put all of them into one column."""
    return [
        ("Opcode", op["OP_ID"]),
        ("Status", status),
        ("Processing start", Told(format_split_time(start), _value(start))),
        ("Execution start", Told(f" {format_split_time(begun)}", _value(begun))),
        ("Processing end", Told(f"  {format_split_time(end)}", _value(end))),
        ("Input fields", op),
        ("Result", result),
        ("Execution log", [_logged(*entry) for entry in log]),
    ]


def _logged(serial: int, stamp: Sequence[int], kind: str, message: Any) -> Labelled:
    text = step_text(message) if kind == STEP else message
    return Part(
        [("Time", format_split_time(stamp)), ("Content", f"[{serial}, {kind}, {text}]")],
        {"time": _seconds(stamp), "serial": serial, "type": kind, "content": message},
    )


def _duration(received: Stamp, end: Stamp) -> Told:
    if not end or not received:
        return Told("N/A", None)
    duration = _seconds(end) - _seconds(received)
    return Told(f"{duration:.6f} seconds", round(duration, 6))


def _value(stamp: Stamp) -> float | None:
    return None if stamp is None else _seconds(stamp)


def _later(stamp: Stamp, before: Stamp) -> str:
    """Ganeti's own words for a step that has not come."""
    if stamp is None:
        return "unknown (None)"
    if before is None:
        return format_split_time(stamp)
    return f"{format_split_time(stamp)} (delta {_seconds(stamp) - _seconds(before):.6f}s)"


def _seconds(stamp: Sequence[int]) -> float:
    return stamp[0] + stamp[1] / 1e6


INFO = Command(show_jobs, SOME_JOBS, prints=TREE)
