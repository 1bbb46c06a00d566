"""gnt-job list and list-fields."""

from collections.abc import Sequence
from typing import Any

from ganeti_tx.cli.listing import Reader, chosen_fields, show_answer, show_fields
from ganeti_tx.cli.options import (
    FIELD_LISTING,
    FILTER,
    MANY_JOBS,
    MANY_WORDS,
    NO_HEADERS,
    OUTPUT,
    SEPARATOR,
    TABLE,
    VERBOSE,
    Command,
    constant,
    switch,
)  # fmt: skip
from ganeti_tx.cli.output import Formatter, format_list, format_split_time
from ganeti_tx.cli.parsing import Parsed
from ganeti_tx.cli.selection import both, selection
from ganeti_tx.cli.session import Session

DEFAULT_FIELDS = ("id", "status", "summary")
PENDING = ("canceling", "queued", "waiting")
FINISHED = ("canceled", "error", "success")

PENDING_JOBS = constant("--pending", "status_filter", PENDING, "only jobs that have not started")
QUEUED_JOBS = constant("--queued", "status_filter", ("queued",), "only jobs in the queue")
WAITING_JOBS = constant("--waiting", "status_filter", ("waiting",), "only jobs that wait for locks")


def _format_times(stamps: Sequence[Any]) -> str:
    """Of all opcodes; one that has not come there yet has none."""
    return str(["?" if stamp is None else format_split_time(stamp) for stamp in stamps])


FORMATS: dict[str, Formatter] = {
    **dict.fromkeys(("opstart", "opexec", "opend"), _format_times),
    "summary": format_list,
}


def _seconds(stamp: Sequence[int]) -> float:
    return stamp[0] + stamp[1] / 1e6


#: Times of jobs, and of each of their opcodes, are seconds for programs.
READERS: dict[str, Reader] = {
    **dict.fromkeys(("received_ts", "start_ts", "end_ts"), _seconds),
    **dict.fromkeys(
        ("opstart", "opexec", "opend"), lambda stamps: [None if each is None else _seconds(each) for each in stamps]
    ),
}


def list_jobs(session: Session, options: Parsed, words: Sequence[str]) -> int:
    """A table of jobs; archived ones only when asked for."""
    fields = chosen_fields(options.output, DEFAULT_FIELDS)
    if options.archived and "archived" not in fields:
        fields.append("archived")  # the server looks into the archive only for this field
    by_name = selection(words, force_filter=options.force_filter, field="id", numbers=True)
    answer = session.client.query("job", fields, both(by_name, of_status(options.status_filter)))
    return show_answer(session, options, answer, FORMATS, READERS)


def of_status(statuses: Sequence[str] | None) -> list[Any] | None:
    """The filter for jobs in one of the statuses."""
    return None if statuses is None else ["|", *(["==", "status", status] for status in statuses)]


def list_fields(session: Session, options: Parsed, names: Sequence[str]) -> int:
    """A table of the fields of jobs."""
    return show_fields(session, options, "job", names)


LIST = Command(
    list_jobs,
    MANY_JOBS,
    (
        NO_HEADERS, SEPARATOR, OUTPUT, VERBOSE, FILTER,
        PENDING_JOBS,
        constant("--running", "status_filter", ("running",), "only running jobs"),
        constant("--error", "status_filter", ("error",), "only jobs that failed"),
        constant("--finished", "status_filter", FINISHED, "only jobs that have ended"),
        switch("--archived", "archived", "archived jobs too"),
    ),
    prints=TABLE,
    watched=True,
)  # fmt: skip
LIST_FIELDS = Command(list_fields, MANY_WORDS, FIELD_LISTING, prints=TABLE)
