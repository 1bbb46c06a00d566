"""Jobs."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from ganeti_tx.rapi_client.records.base import Record

#: Seconds and microseconds since the epoch.
Time: TypeAlias = tuple[int, int]
#: The states in which a job stays.
FINAL = frozenset({"success", "error", "canceled"})


class Job(Record, frozen=True, kw_only=True):
    """A job; everything save the id is None when there is no such job."""

    id: int | str
    status: str | None = None
    #: One line an opcode, as are all the sequences below.
    summary: tuple[str, ...] | None = None
    ops: tuple[Mapping[str, Any], ...] | None = None
    opstatus: tuple[str, ...] | None = None
    #: Results; of a failed opcode [class name, [arguments]].
    opresult: tuple[Any, ...] | None = None
    oplog: tuple[Any, ...] | None = None
    received_ts: Time | None = None
    start_ts: Time | None = None
    end_ts: Time | None = None

    @property
    def ended(self) -> bool:
        """Whether nothing will change any more."""
        return self.status in FINAL


class JobChange(Record, frozen=True, kw_only=True):
    """What `wait_for_job_change` answers: the fields' values, and the log entries after the one named."""

    job_info: tuple[Any, ...]
    log_entries: tuple[Any, ...] | None = None
