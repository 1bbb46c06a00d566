"""Jobs as a resource of queries: found and loaded by whoever keeps the queue."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from attrs import frozen

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.query.language.cell import NORMAL, UNAVAILABLE, Cell
from ganeti_tx.query.language.field import Field, Getter, Gives, Kind, Match, Need, by_name, maybe, stored

#: A job by field name.
JobRow = Mapping[str, Any]
#: So many jobs are in memory at a time for one query.
AT_A_TIME = 200


class JobRef(NamedTuple):
    """Which job, where it is (None: nowhere), and whether it was asked for by its id."""

    id: int
    archived: bool | None
    asked: bool = False


class Jobs(Protocol):
    """Where jobs are kept."""

    async def find(self, ids: Sequence[int] | None, archived: bool) -> Sequence[JobRef]:
        """All jobs in the order of their ids, the archived ones only if so wanted; or those of the ids, in that order."""

    async def load(self, refs: Sequence[JobRef], whole: bool) -> Mapping[int, JobRow]:
        """The jobs by id; one that is gone or damaged is left out.

        @param whole: every field is wanted; else those with Need.JOBS.
        @raise JobFileCorrupted: one that was asked for is damaged.
        """


def job_field(name: str, title: str, kind: Kind, doc: str, *, need: Need = Need.JOBS, **more: Any) -> Field:
    """A field that the row has."""

    def bind(context: Mapping[int, JobRow] | None) -> Getter:
        rows = context or {}

        def get(ref: JobRef) -> Cell:
            row = rows.get(ref.id)
            value = None if row is None else row[name]
            return UNAVAILABLE if value is None else (NORMAL, value)

        return get

    return Field(name, title, kind, doc, bind, Gives.CELL, needs=frozenset({need}), **more)


def in_file(name: str, title: str, doc: str) -> Field:
    """A field with a value for each opcode, which only the file has."""
    return job_field(name, title, Kind.OTHER, doc, need=Need.JOB_FILES)


def moment(name: str, title: str, doc: str) -> Field:
    """A point in time as [seconds, microseconds], which may not have come yet."""
    return job_field(name, title, Kind.OTHER, doc, match=Match.TIMESTAMP)


JOB_FIELDS = by_name(
    [
        stored("id", "ID", Kind.NUMBER, "Job ID"),
        job_field(
            "status",
            "Status",
            Kind.TEXT,
            "Status of the job: queued, waiting, canceling, running, canceled, success or error",
        ),
        job_field("priority", "Priority", Kind.NUMBER, "Current priority: -20 is first, 19 is last"),
        maybe("archived", "Archived", Kind.BOOL, "Whether the job is archived"),
        in_file("ops", "OpCodes", "Opcodes with their parameters"),
        in_file("opresult", "OpCode_result", "Result of each opcode"),
        in_file("opstatus", "OpCode_status", "Status of each opcode"),
        in_file("oplog", "OpCode_log", "Messages of each opcode"),
        in_file("opstart", "OpCode_start", "When each opcode was started, before its locks"),
        in_file("opexec", "OpCode_exec", "When each opcode began its work, with its locks"),
        in_file("opend", "OpCode_end", "When each opcode ended"),
        in_file("oppriority", "OpCode_prio", "Priority of each opcode"),
        job_field("summary", "Summary", Kind.OTHER, "Each opcode in one word"),
        moment("received_ts", "Received", "When the job was received"),
        moment("start_ts", "Start", "When the job was started"),
        moment("end_ts", "End", "When the job ended"),
    ]
)


@frozen
class JobRows:
    """Rows say which jobs there are; the context has the jobs themselves."""

    jobs: Jobs
    name_field: str = "id"
    fields: Mapping[str, Field] = JOB_FIELDS
    at_a_time: int = AT_A_TIME

    async def rows(
        self, names: Sequence[object] | None, wanted: frozenset[str], strict: bool
    ) -> tuple[Sequence[JobRef], None]:
        """As Resource.rows says; the order is that of the ids. Archived jobs belong to all if `archived` is wanted.

        A job that is asked for and is not there has a row, too: of its fields only the id is available.
        """
        if names is None:
            return await self.jobs.find(None, "archived" in wanted), None
        ids = list(dict.fromkeys(number for name in names if (number := job_id(name, strict)) is not None))
        refs = {ref.id: ref for ref in await self.jobs.find(ids, True)}
        if not strict:
            return list(refs.values()), None
        return [refs.get(number) or JobRef(number, archived=None, asked=True) for number in ids], None

    async def collect(self, rows: Sequence[JobRef], context: None, needs: frozenset[Need]) -> Mapping[int, JobRow]:
        """The jobs by id, read from their files where need be."""
        return await self.jobs.load(rows, Need.JOB_FILES in needs)


def job_id(name: object, strict: bool) -> int | None:
    """A job id, as number or digits. @raise OpPrereqError: it is none, if strict."""
    if isinstance(name, int):
        return name
    if isinstance(name, str) and name.isascii() and name.isdigit() and len(name) < 20:
        return int(name)
    if strict:
        raise OpPrereqError(f"invalid job id {str(name)[:100]!r}; a job id is a number", ECode.INVAL)
    return None
