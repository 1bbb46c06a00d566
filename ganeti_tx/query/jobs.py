"""Jobs as a resource of queries: the rows are handed in by whoever keeps the queue."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.query.field import Field, Gives, Kind, Match, Need, by_name

#: A job by field name.
JobRow = Mapping[str, Any]
#: Gives the jobs with these ids, wherever they are kept, or all (None), in any order. The second argument names the
#: fields that will be read, so that no others need be worked out; archived jobs belong to all only if C{archived} is one.
Jobs = Callable[[Sequence[int] | None, frozenset[str]], Iterable[JobRow]]


def job_field(name: str, title: str, kind: Kind, doc: str, **more: Any) -> Field:
    """A field that the row has."""
    get = itemgetter(name)
    return Field(name, title, kind, doc, lambda context: get, **more)


def moment(name: str, title: str, doc: str) -> Field:
    """A point in time as [seconds, microseconds], which may not have come yet."""
    return job_field(name, title, Kind.OTHER, doc, gives=Gives.MAYBE, match=Match.TIMESTAMP)


JOB_FIELDS = by_name(
    [
        job_field("id", "ID", Kind.NUMBER, "Job ID"),
        job_field(
            "status",
            "Status",
            Kind.TEXT,
            "Status of the job: queued, waiting, canceling, running, canceled, success or error",
        ),
        job_field("priority", "Priority", Kind.NUMBER, "Current priority: -20 is first, 19 is last"),
        job_field("archived", "Archived", Kind.BOOL, "Whether the job is archived"),
        job_field("ops", "OpCodes", Kind.OTHER, "Opcodes with their parameters"),
        job_field("opresult", "OpCode_result", Kind.OTHER, "Result of each opcode"),
        job_field("opstatus", "OpCode_status", Kind.OTHER, "Status of each opcode"),
        job_field("oplog", "OpCode_log", Kind.OTHER, "Messages of each opcode"),
        job_field("opstart", "OpCode_start", Kind.OTHER, "When each opcode was started, before its locks"),
        job_field("opexec", "OpCode_exec", Kind.OTHER, "When each opcode began its work, with its locks"),
        job_field("opend", "OpCode_end", Kind.OTHER, "When each opcode ended"),
        job_field("oppriority", "OpCode_prio", Kind.OTHER, "Priority of each opcode"),
        job_field("summary", "Summary", Kind.OTHER, "Each opcode in one word"),
        moment("received_ts", "Received", "When the job was received"),
        moment("start_ts", "Start", "When the job was started"),
        moment("end_ts", "End", "When the job ended"),
    ]
)


@frozen
class JobRows:
    """Rows are mappings; there is no context."""

    jobs: Jobs
    name_field: str = "id"
    fields: Mapping[str, Field] = JOB_FIELDS

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[JobRow], None]:
        """As Resource.rows says; the order is that of the ids."""
        wanted = (wanted & set(self.fields)) | {"id"}
        if names is None:
            return sorted(self.jobs(None, wanted), key=itemgetter("id")), None
        ids = list(dict.fromkeys(number for name in names if (number := job_id(name, strict)) is not None))
        found = {row["id"]: row for row in self.jobs(ids, wanted)}
        missing = [number for number in ids if number not in found]
        if strict and missing:
            raise OpPrereqError(f"job {missing[0]} not known", ECode.NOENT)
        return [found[number] for number in ids if number in found], None

    async def collect(self, rows: Sequence[JobRow], context: None, needs: frozenset[Need]) -> None:
        """Nothing to ask nodes for."""


def job_id(name: object, strict: bool) -> int | None:
    """A job id, as number or digits. @raise OpPrereqError: it is none, if strict."""
    if isinstance(name, int):
        return name
    if isinstance(name, str) and name.isascii() and name.isdigit() and len(name) < 20:
        return int(name)
    if strict:
        raise OpPrereqError(f"invalid job id {str(name)[:100]!r}; a job id is a number", ECode.INVAL)
    return None
